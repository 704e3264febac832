#!/bin/sh
# fuzz.sh PROGRAM SECONDS CORPUS: fuzzes the host's side of a machine's channel for so long, by one process, and says what the corpus reaches then.
set -u
cd "$(dirname "$0")/../.."
. test/fuzz-init/options.sh
# Half of the time would go into remembering who has asked for memory.
export ASAN_OPTIONS="$ASAN_OPTIONS:malloc_context_size=2"
directory=$(dirname "$1")
export RUNT_CHANNEL="$directory/subject.js"
failed=0
# shellcheck disable=SC2086
nice -n 10 "$1" -max_total_time="$2" -max_len=131072 -entropic=0 $LIMITS -print_final_stats=1 -artifact_prefix="$directory/finding-" "$3" >"$directory/log" 2>&1 || failed=1
if [ $failed != 0 ]; then
    grep -E -A 12 '^finding:|ERROR: |runtime error:' "$directory/log" >&2 || tail -n 20 "$directory/log" >&2
    echo "repeat it: RUNT_CHANNEL=$RUNT_CHANNEL $1 $(sed -n 's/.*Test unit written to //p' "$directory/log")" >&2
fi
echo "$(sed -n 's/^stat::number_of_executed_units: *//p' "$directory/log") executions in $2 s"
node_modules/.bin/tsx test/fuzz-channel/coverage.ts "$3" || failed=1
exit $failed
