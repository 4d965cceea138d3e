#!/usr/bin/env bash
# Everything that must hold before a change lands, in one command.
set -euo pipefail
cd "$(dirname "$0")"

step() { printf '\n== %s\n' "$*"; }
run() { step "$*"; "$@"; }

# The tools that a new machine may lack.
for component in rustfmt clippy; do
    cargo "${component/rustfmt/fmt}" --version >/dev/null 2>&1 || rustup component add "$component"
done

# The report is looked at in a browser. Without one the other tests still run, and at the end it is said.
without_browser=()
if ! command -v "${CHROMIUM:-chromium}" >/dev/null; then
    if command -v apt-get >/dev/null; then
        step "installing Chromium, only for the test of the report (a few minutes, once)"
        { apt-get update && apt-get install -y --no-install-recommends chromium fonts-dejavu-core; } >/dev/null || true
    fi
    if ! command -v "${CHROMIUM:-chromium}" >/dev/null; then
        echo "There is no browser, and none could be installed: the tests of the report are left out." >&2
        echo "Install Chromium, or name it: CHROMIUM=/path/to/chromium ./test.sh" >&2
        without_browser=(--skip in_a_browser)
    fi
fi

if ! command -v python3 >/dev/null; then
    step "installing Python, for the proofs"
    if ! { command -v apt-get && apt-get update && apt-get install -y --no-install-recommends python3; } >/dev/null; then
        echo "There is no Python, and it could not be installed: the proofs are left out." >&2
    fi
fi

# What is proved for any number of nodes. It installs the solver, if it can.
step proofs/check
if command -v python3 >/dev/null; then
    proofs/check || { status=$?; [ "$status" -eq 77 ] && echo "skipped: there is no solver" || exit "$status"; }
fi

run cargo fmt --all --check
run cargo fmt --all --check --manifest-path loom-tests/Cargo.toml
run cargo fmt --check --manifest-path no-std-test/Cargo.toml

# The lock files are part of what is tested.
export CARGO_NET_RETRY=5
lint() { run cargo clippy --locked --workspace --all-targets "$@" -- -D warnings; }
lint
lint --all-features
# Each feature alone: whoever wants a mutex compiles no protocol.
for features in "" std message serde check arc_lock; do
    run cargo clippy --locked -p exclusion --no-default-features --features "$features" -- -D warnings
done

export RUSTDOCFLAGS="-D warnings"
run cargo doc --workspace --all-features --no-deps
run cargo doc -p exclusion --no-default-features --features std --no-deps
unset RUSTDOCFLAGS

# Tests and doc tests, debug and release: the optimiser is part of what is tested.
run cargo test --locked --workspace --all-features -- "${without_browser[@]}"
run cargo test --locked --release -p exclusion --all-features --tests
run cargo run --locked --example drop_in
run cargo run --locked --example both_ways
run cargo run --locked --example connection_pool
run cargo run --locked --example cache
run cargo run --locked --example work_queue
run cargo run --locked --example firmware
run cargo run --locked --example tail_latency
run cargo run --locked --example thousand_threads
run cargo run --locked --example crash_inside
run cargo run --locked --example own_protocol --features check
for bench in locks actors sim; do
    run cargo bench --locked --bench "$bench" -- --test
done

# Without std: the crate by itself, and in a program where anything that linked std would clash.
run cargo build --locked -p exclusion --no-default-features
run cargo build --locked --manifest-path no-std-test/Cargo.toml

# A program's own `--cfg loom` leaves the crate as it is, statics included. What asks for loom is `--cfg exclusion_loom`.
own_cfg_loom() { run env RUSTFLAGS="--cfg loom" CARGO_TARGET_DIR=target/own-cfg-loom cargo "$@"; }
own_cfg_loom build --locked -p exclusion
own_cfg_loom build --locked --manifest-path no-std-test/Cargo.toml
step "the ordinary build has nothing of loom or shuttle in it"
cargo tree --locked -p exclusion --all-features --edges normal,build --prefix none | { ! grep -E '^(loom|shuttle) '; }

# Loom, on the shipped sources: every model prints how much it explored.
loom() { step "loom-tests: $*"; (cd loom-tests && "$@"); }
loom cargo clippy --locked --workspace --all-targets -- -D warnings
loom cargo test --locked --workspace
loom cargo run --locked -p downstream --example own_type

if [ "${#without_browser[@]}" -gt 0 ]; then
    step "all that was run holds; the report was not looked at: there is no browser"
fi
