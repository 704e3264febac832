#!/bin/sh
# Pack what `make` has built as one archive without a package manager: DIRECTORY/runt-VERSION-linux-MACHINE.tar.gz, to be unpacked by
# `tar -C /usr/local --strip-components=1 -xzf FILE`. It prints its name. Its programs are static; runtd runs on the host's Node.js.
# Usage: packaging/tarball.sh DIRECTORY [x64|arm64 TREE] (TREE has bin/ and build/ of that machine's programs)
set -eu
cd "$(dirname "$0")/.."
output=$1 architecture=${2:-} built=${3:-}
. packaging/contents.sh

name=runt-$version-linux-$machine
stage
mv "$work/all/usr" "$work/$name"
# It is for /usr/local, where links and launchers go by their own place; only systemd wants a whole path.
sed -i 's|^ExecStart=/usr/bin/|ExecStart=/usr/local/bin/|' "$work/$name/lib/systemd/system/runtd.service"
settle "$work/$name"
mkdir -p "$output"
tar -C "$work" --sort=name --format=gnu --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" -cf - "$name" | gzip -9n >"$output/$name.tar.gz"
echo "$output/$name.tar.gz"
