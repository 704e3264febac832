#!/bin/sh
# Build an earlier commit into build/upgrade/COMMIT/bin/runt, with the engine, the libraries and the npm packages of this tree. For the upgrade
# test. Usage: tools/older-build.sh COMMIT...
set -eu
cd "$(dirname "$0")/.."
here=$PWD
for commit in "$@"; do
    directory=build/upgrade/$commit
    [ ! -x "$directory/bin/runt" ] || continue
    git cat-file -e "$commit^{commit}" 2>/dev/null || { printf 'older-build: there is no commit %s here (a shallow clone?)\n' "$commit" >&2; exit 1; }
    rm -rf "$directory.new"
    mkdir -p "$directory.new/build"
    git archive "$commit" | tar -x -C "$directory.new"
    cp -a build/quickjs build/libseccomp "$directory.new/build/"
    ln -s "$here/node_modules" "$directory.new/node_modules"
    # The copied files are what that tree would build. Their times must not make its rules build them again.
    touch "$directory.new/build/.setup" "$directory.new/build/quickjs/version" "$directory.new/build/libseccomp/version"
    make -C "$directory.new" bin/runt >"$directory.new/build/log" 2>&1 || { tail -20 "$directory.new/build/log" >&2; exit 1; }
    mkdir -p "$directory/bin"
    mv "$directory.new/bin/runt" "$directory/bin/runt"
    rm -rf "$directory.new"
done
