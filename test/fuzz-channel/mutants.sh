#!/bin/sh
# mutants.sh PROGRAM CORPUS [NUMBER...]: the fuzzer must find each check of the host's side that is taken out (test/support/channel/checks.ts), from this
# corpus, within 40,000 executions each.
set -u
cd "$(dirname "$0")/../.."
. test/fuzz-init/options.sh
# Half of the time would go into remembering who has asked for memory.
export ASAN_OPTIONS="$ASAN_OPTIONS:malloc_context_size=2"
directory=$(dirname "$1")/mutants
failed=0
program=$1 corpus=$2
shift 2
# shellcheck disable=SC2046
[ $# -gt 0 ] || set -- $(seq 0 $(($(node_modules/.bin/tsx test/fuzz-channel/bundle.ts --count) - 1)))
for number; do
    rm -rf "$directory"
    mkdir -p "$directory/cases"
    node_modules/.bin/tsx test/fuzz-channel/bundle.ts "$directory/subject.js" "$number" || exit 1
    # shellcheck disable=SC2086
    if RUNT_CHANNEL="$directory/subject.js" nice -n 10 "$program" -runs=40000 -max_len=131072 -entropic=0 -seed=1 $LIMITS -print_final_stats=1 \
        -artifact_prefix="$directory/found-" "$directory/cases" "$corpus" >"$directory/log" 2>&1; then
        echo "check $number was taken out, and that was not found" >&2
        failed=1
    elif found=$(grep -m 1 -o -E '^finding: .*|out-of-memory' "$directory/log"); then
        # Without the bound of a length memory is what there is too little of.
        echo "check $number: after $(sed -n 's/^stat::number_of_executed_units: *//p' "$directory/log") executions: ${found#finding: }"
    else
        tail -n 40 "$directory/log" >&2
        exit 1
    fi
done
exit $failed
