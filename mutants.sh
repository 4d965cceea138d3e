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
export SEED=1 SCHEDULES=${SCHEDULES:-20} RUST_BACKTRACE=0

out=target/mutants/$half-${shard/\//-of-}
mkdir -p "$out"
# limited SECONDS ARGUMENTS: a test that takes so many seconds of processor time is stopped. That is
# how a mutant is noticed that never ends. Unmutated, the tests are known to pass.
limited() {
    CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER="prlimit --cpu=$1" \
        cargo mutants --package exclusion --output "$out" --iterate --baseline skip \
        --no-shuffle --timeout 900 --build-timeout 900 --colors never "${files[@]}" "${@:2}" ||
        [ $? -le 3 ]
}
# The targets that are built and run.
targets() { printf -- '--cargo-arg=--test=%s\n' "$@"; }

case $half in
lock)
    files=(--file 'src/lock/**/*.rs' --shard "$shard" --sharding round-robin)
    # First what needs no time: counted registers, where a thread that hangs is a deadlock.
    limited 8 --test-package counted $(targets schedules) -- every
    # Then what survives: unit tests, and real threads.
    limited 60 --test-package exclusion --no-default-features --features std,arc_lock \
        --cargo-arg=--lib $(targets noticed rwlock semaphore condvar mutex raw with strict_order \
        schedules litmus wake_up)
    ;;
message)
    # A mutant's name is hashed with the seed, and the 500 lowest are taken.
    names=$(cargo mutants --package exclusion --list --file 'src/message/**/*.rs' |
        while read -r name; do
            printf '%s %s\n' "$(printf '1 %s' "$name" | md5sum | cut -c1-16)" "$name"
        done | sort | head -500 | cut -d' ' -f2-)
    files=(--file 'src/message/**/*.rs')
    while read -r name; do
        files+=(--re "^$(printf '%s' "$name" | sed 's/[][\.*^$(){}?+|/]/\\&/g')\$")
    done <<<"$names"
    limited 300 --test-package exclusion --features check,serde --cargo-arg=--lib \
        $(targets permission token banta refusals elections sim protocols faults link withdrawal \
        recovery remedies actors wire)
    ;;
*)
    echo "'lock' or 'message'" >&2
    exit 2
    ;;
esac
