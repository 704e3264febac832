#!/bin/sh
# Write a release into DIRECTORY, of what is built for both machines in TREE and in TREE2: archives, packages for Debian, RPM and npm, relink kits, bills of
# materials, provenance, checksums, signature (tools/release.ts). Only DIRECTORY and DIRECTORY.work, which goes at the end, are written.
# Usage: packaging/release.sh DIRECTORY TREE-OF-X64 TREE-OF-ARM64 (by `make release`, which has made build/npm)
set -eu
cd "$(dirname "$0")/.."
output=$1 x64=$2 arm64=$3

changed=$(git status --porcelain)
[ -z "$changed" ] || { printf 'release: refused, because the tree is not its commit:\n%s\n' "$changed" >&2; exit 1; }
rm -rf "$output" "$output.work"
mkdir -p "$output" "$output.work"
TMPDIR=$(cd "$output.work" && pwd)
export TMPDIR
scratch=$TMPDIR
# npm leaves its logs and its cache there.
export RUNT_STAGED="$scratch/staged" npm_config_cache="$scratch/npm" npm_config_update_notifier=false
. packaging/contents.sh
trap 'rm -rf "$work" "$scratch"' EXIT

pack() { # architecture machine tree
    for format in tarball deb rpm; do "packaging/$format.sh" "$output" "$1" "$3"; done
    install -m 0644 "$3/build/runt_${release}_$2_relink.tar.gz" "$output/"
    for name in runt runtd; do
        for kind in spdx cdx; do install -m 0644 "$3/build/$name.$kind.json" "$output/$name-$version-linux-$2.$kind.json"; done
    done
}
pack x64 x86_64 "$x64"
pack arm64 aarch64 "$arm64"
for package in build/npm/*; do (cd "$package" && npm pack --ignore-scripts --pack-destination "$OLDPWD/$output"); done
chmod 0644 "$output"/*
node_modules/.bin/tsx tools/release.ts "$output" "$version" "$commit"
