#!/bin/sh
# Give C the style of native-bindings/.clang-format; with --check say where it has another; with --can say whether this can be done here. Only with
# clang-format 14, which Debian 12 has: other versions differ in details. No build and no test needs it.
set -eu
cd "$(dirname "$0")/.."
case ${1:-} in
--can) clang-format --version 2>/dev/null | grep -q 'version 14\.' && exit 0 || exit 1 ;;
--check) mode='--dry-run --Werror' ;;
*) mode=-i ;;
esac
# shellcheck disable=SC2086
git ls-files -z 'native-bindings/*.[ch]' | xargs -0 clang-format --style=file $mode
