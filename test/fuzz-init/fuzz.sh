#!/bin/sh
# Runs a fuzzer: fuzz.sh PROGRAM RUNS JOBS CORPUS. Fails if one of the jobs finds something.
set -u
cd "$(dirname "$0")/../.."
. test/fuzz-init/options.sh
program=$1 runs=$2 jobs=$3 corpus=$4
directory=$(dirname "$program")
begin=$(date +%s)
rm -f "$directory"/job-*.log
for job in $(seq "$jobs"); do
    # shellcheck disable=SC2086
    nice -n 10 "$program" -runs=$((runs / jobs)) -seed=$((begin + job)) -max_len=16384 -entropic=0 -reload=1 $LIMITS \
        -print_final_stats=1 -artifact_prefix="$directory/finding-" "$corpus" >"$directory/job-$job.log" 2>&1 &
    eval "pid_$job=$!"
done
failed=0
for job in $(seq "$jobs"); do
    eval "wait \$pid_$job" && continue
    failed=1
    grep -E -A 24 'finding:|ERROR: |runtime error:' "$directory/job-$job.log" >&2 || tail -n 20 "$directory/job-$job.log" >&2
    case=$(sed -n 's/.*Test unit written to //p' "$directory/job-$job.log")
    echo "repeat it: . test/fuzz-init/options.sh; $program $case" >&2
done
done_runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$directory"/job-*.log | awk '{ sum += $1 } END { print sum + 0 }')
seconds=$(($(date +%s) - begin))
echo "$done_runs executions in $seconds s by $jobs jobs: $((done_runs / (seconds > 0 ? seconds : 1))) a second"
exit $failed
