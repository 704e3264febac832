#!/bin/sh
# minimise.sh PROGRAM: of build/fuzz/corpus, small cases that together reach as much, into build/fuzz/minimised.
set -eu
cd "$(dirname "$0")/../.."
. test/fuzz-init/options.sh
rm -rf build/fuzz/minimised
mkdir -p build/fuzz/minimised
# Edges alone: how often one is passed is left to the fuzzer.
# shellcheck disable=SC2086
nice -n 10 "$1" -merge=1 -use_counters=0 -max_len=16384 $LIMITS build/fuzz/minimised build/fuzz/corpus >build/fuzz/minimise.log 2>&1 || {
    tail -n 20 build/fuzz/minimise.log >&2
    exit 1
}
