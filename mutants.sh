#!/usr/bin/env bash
# Mutants of the locks, or a sample of those of the messages: see docs/mutants.md.
#
#     ./mutants.sh lock                  all mutants of src/lock
#     ./mutants.sh lock 0/8              the first of eight parts
#     ./mutants.sh message               500 mutants of src/message, chosen by a seed
#
# Run again, each goes on with what survived. Results are in target/mutants/<part>/mutants.out.
set -euo pipefail
cd "$(dirname "$0")"

half=${1:?"'lock' or 'message'"}
shard=${2:-0/1}
command -v cargo-mutants >/dev/null || cargo install --locked cargo-mutants

# Seeds, not chance: a mutant that is caught is caught again.
export SEED=1 SCHEDULES=${SCHEDULES:-40}
export RUST_BACKTRACE=0

out=target/mutants/$half-${shard/\//-of-}
mkdir -p "$out"
# Unmutated, the tests are known to pass. What hangs is a mutant that was noticed.
mutants() {
    cargo mutants --package exclusion --output "$out" --iterate --baseline skip --no-shuffle \
        --build-timeout 600 --colors never "${files[@]}" "$@" || [ $? -le 3 ]
}

case $half in
lock)
    files=(--file 'src/lock/**/*.rs' --shard "$shard")
    # First what needs no time: counted registers, where a thread that hangs is a deadlock.
    mutants --timeout 60 --test-package counted -- --test schedules --test cost
    # Then what survives: unit tests, and real threads.
    mutants --timeout 120 --test-package exclusion --no-default-features --features std,arc_lock \
        -- --lib --test raw --test mutex --test with --test condvar --test rwlock \
        --test semaphore --test strict_order --test schedules --test litmus --test wake_up
    ;;
message)
    # A mutant's name is hashed with the seed, and the 500 lowest are taken.
    names=$(cargo mutants --package exclusion --list --no-config --file 'src/message/**/*.rs' |
        while read -r name; do printf '%s %s\n' "$(printf '1 %s' "$name" | md5sum | cut -c1-16)" "$name"; done |
        sort | head -500 | cut -d' ' -f2-)
    files=(--file 'src/message/**/*.rs')
    while read -r name; do
        files+=(--re "^$(printf '%s' "$name" | sed 's/[][\.*^$(){}?+|/]/\\&/g')\$")
    done <<<"$names"
    mutants --timeout 300 --test-package exclusion --features check,serde -- --lib \
        --test permission --test token --test banta --test refusals --test elections --test sim \
        --test protocols --test faults --test link --test withdrawal --test recovery \
        --test remedies --test actors --test wire
    ;;
*)
    echo "'lock' or 'message'" >&2
    exit 2
    ;;
esac
