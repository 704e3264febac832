#!/bin/sh
# The quick part of the tests, for what has changed: since the branch has left its upstream or, where it has nothing of its own, by its last commit; what is not
# committed counts. Types, style and the tree's rules; unit tests that import something of it; native tests if the helper or what it is told may differ.
set -eu
cd "$(dirname "$0")/.."
# A tree without git, of an archive, has changed as a whole.
git rev-parse --quiet --verify HEAD >/dev/null 2>&1 || RUNT_TEST_VARIANTS=quick exec tools/test.sh -j 2 unit lint-quick native@private native-host
since=$(git merge-base HEAD '@{upstream}' 2>/dev/null || git rev-parse HEAD)
[ "$since" != "$(git rev-parse HEAD)" ] || since=$(git rev-parse --verify --quiet HEAD~1 || echo "$since")
changed=$(git diff --name-only "$since" && git ls-files --others --exclude-standard)
printf 'check: what has changed since %.12s: %s files\n' "$since" "$(printf '%s\n' "$changed" | grep -c . || true)"
lanes='unit lint-quick'
if printf '%s\n' "$changed" | grep -qE '^(Makefile|native-bindings/|src/shared/|test/(native|probe|support)/)'; then
    lanes="$lanes native@private native-host"
else
    echo 'check: native tests left out: nothing of native-bindings, src/shared, test/native, test/probe or test/support has changed'
fi
# shellcheck disable=SC2086
RUNT_TEST_SINCE=$since RUNT_TEST_VARIANTS=quick exec tools/test.sh -j 2 $lanes
