#!/bin/sh
# Print the C header with the version of package.json and the commit ("" outside a git checkout).
set -eu
cd "$(dirname "$0")/.."
version=$(sed -n 's/^ *"version": *"\([^"]*\)".*/\1/p' package.json | head -n 1)
commit=$(git rev-parse --verify --quiet HEAD 2>/dev/null || true)
printf '#define RUNT_VERSION "%s"\n#define RUNT_COMMIT "%s"\n' "$version" "$commit"
