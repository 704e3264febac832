#!/bin/sh
# Build sample bundles: config.json and a root file system each. Usage: bundles/build.sh [NAME...]; prints build/bundles.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=${BUNDLES_OUT:-$here/../build/bundles}
mkdir -p "$out"
out=$(cd "$out" && pwd)

[ $# -gt 0 ] || set -- $(cd "$here" && ls -d */ | tr -d /)
for name; do
    mkdir -p "$out/$name"
    cp "$here/$name/config.json" "$out/$name/config.json"
    [ -x "$out/$name/rootfs/bin/busybox" ] || "$here/make-rootfs.sh" "$out/$name/rootfs"
done
echo "$out"
