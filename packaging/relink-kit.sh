#!/bin/sh
# Pack what is needed to link bin/runt anew with another libseccomp: relink-kit.sh DIRECTORY OBJECT... leaves
# DIRECTORY/runt_VERSION_ARCHITECTURE_relink.tar.gz and prints its name. RUNT_LDFLAGS: those of the build (make relink-kit),
# RUNT_MACHINE: whose program it is, as uname -m says it, by default this one's. The same build gives the same bytes.
set -eu
cd "$(dirname "$0")/.."
output=$1
shift
: "${RUNT_LDFLAGS:?what the program is linked with: make relink-kit}"
umask 022

version=$(sed -n 's/^ *"version": *"\([^"]*\)".*/\1/p' package.json | head -n 1)
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
name=runt_${version}_${RUNT_MACHINE:-$(uname -m)}_relink

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
kit=$work/$name
install -d "$kit/build/quickjs/lib" "$kit/build/libseccomp/lib" "$kit/native-bindings/program" "$kit/third-party"
# Objects have the paths of the build: the linker script goes by them.
for object in "$@"; do install -D -m 0644 "$object" "$kit/$object"; done
install -m 0644 build/quickjs/lib/libquickjs.a "$kit/build/quickjs/lib/"
install -m 0644 build/libseccomp/lib/libseccomp.a "$kit/build/libseccomp/lib/"
install -m 0644 native-bindings/program/image.ld "$kit/native-bindings/program/"
install -D -m 0644 -t "$kit/build/gen" build/gen/text.ld
install -m 0644 build/third-party/*.txt "$kit/third-party/"
install -m 0644 NOTICE LICENSE "$kit/"
install -m 0755 tools/libseccomp-compile.sh "$kit/"
install -D -m 0644 -t "$kit/libseccomp" tools/libseccomp/memory.c
install -D -m 0644 -t "$kit/libseccomp/patches" tools/libseccomp/patches/*
sed "s|@LDFLAGS@|$RUNT_LDFLAGS|; s|@OBJECTS@|$*|" packaging/relink.sh >"$kit/relink.sh"
chmod 0755 "$kit/relink.sh"

mkdir -p "$output"
tar -C "$work" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" -cf - "$name" | gzip -9n >"$output/$name.tar.gz"
echo "$output/$name.tar.gz"
