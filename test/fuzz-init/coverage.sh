#!/bin/sh
# coverage.sh PROGRAM: lines and branches of the helper that the corpus reaches, one file a line.
set -eu
cd "$(dirname "$0")/../.."
. test/fuzz-init/options.sh
LLVM_PROFILE_FILE=build/fuzz/coverage/profile "$1" test/fuzz-init/corpus.pack
llvm-profdata merge -sparse build/fuzz/coverage/profile -o build/fuzz/coverage/data
llvm-cov report "$1" -instr-profile=build/fuzz/coverage/data -show-region-summary=0 -show-instantiation-summary=0 |
    awk '/^native-bindings\/(init|shared)\/.*%/ || /^TOTAL/ { printf "%-40s lines %-8s branches %4d of %4d  %s\n", $1, $7, $8 - $9, $8, $10 }'
