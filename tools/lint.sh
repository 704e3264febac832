#!/bin/sh
# Types, style, layers. (C is compiled with warnings as errors by every build; here once more as Debian 13 does it.) Usage: tools/lint.sh [quick]
# quick: what an edit breaks most, in a third of the processor time.
set -u
cd "$(dirname "$0")/.."
failed=0
check() { # name command...
    name=$1
    shift
    if "$@"; then
        printf 'lint %s passed\n' "$name"
        tools/count.sh lint 1 0 0
    else
        printf 'lint %s FAILED\n' "$name"
        tools/count.sh lint 0 1 0
        failed=1
    fi
}
# TypeScript 7 checks in a third of the time. Version 5 is there for typedoc and for tools that read syntax trees.
check types node node_modules/typescript-7/bin/tsc -p .
check test-types node node_modules/typescript-7/bin/tsc -p test
check style node_modules/.bin/biome check --no-errors-on-unmatched
check tree node_modules/.bin/tsx tools/lint-tree.ts
check docs node_modules/.bin/tsx tools/lint-docs.ts
if [ "${1:-}" = quick ]; then exit $failed; fi
if tools/format-c.sh --can; then
    check c-style tools/format-c.sh --check
else
    printf 'lint c-style skipped: clang-format 14 is not installed\n'
    tools/count.sh lint 0 0 1
fi
if [ -e build/newer/tree ]; then
    check c-on-debian-13 env -u MAKEFLAGS -u MFLAGS make --no-print-directory --keep-going newer-toolchain
else
    printf 'lint c-on-debian-13 skipped: build/newer/tree, which make newer-tree fetches, is not there\n'
    tools/count.sh lint 0 0 1
fi
check layers node_modules/.bin/depcruise --config .dependency-cruiser.cjs src
check prose node_modules/.bin/tsx tools/lint-prose.ts
check in-root node_modules/.bin/tsx tools/lint-in-root.ts
check own node_modules/.bin/tsx tools/lint-own.ts
check includes node_modules/.bin/tsx tools/lint-includes.ts
check man node_modules/.bin/tsx tools/gen-man.ts --check
check reference node_modules/.bin/typedoc --emit none --logLevel Warn
exit $failed
