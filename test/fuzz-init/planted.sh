#!/bin/sh
# planted.sh PROGRAM: the fuzzer must find the bug that was planted in this build of the helper, within a minute, from the seeds alone.
set -u
cd "$(dirname "$0")/../.."
. test/fuzz-init/options.sh
rm -rf build/fuzz/planted/cases
node build/fuzz/seeds.mjs build/fuzz/planted/cases || exit 1
# shellcheck disable=SC2086
if "$1" -max_total_time=60 -max_len=4096 -entropic=0 $LIMITS -print_final_stats=1 -artifact_prefix=build/fuzz/planted/found- \
    build/fuzz/planted/cases >build/fuzz/planted/log 2>&1; then
    echo 'the planted bug was not found' >&2
    exit 1
fi
# Another finding is not the planted one.
grep -q 'heap-buffer-overflow' build/fuzz/planted/log && grep -q 'in read_text' build/fuzz/planted/log || { tail -n 40 build/fuzz/planted/log >&2; exit 1; }
echo "found after $(sed -n 's/^stat::number_of_executed_units: *//p' build/fuzz/planted/log) executions"
