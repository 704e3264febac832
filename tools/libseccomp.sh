#!/bin/sh
# Provide libseccomp of exactly one version under OUTPUT: include/seccomp.h, lib/libseccomp.a, version.
#
# Sources, in this order: LIBSECCOMP_PREFIX (an installation prefix, compiled for the same C library), and Debian's signed source
# package. See docs/decisions/0013-libseccomp.md. Usage: tools/libseccomp.sh OUTPUT (CC and AR choose the compiler and the archiver, KERNEL_INCLUDE has the
# kernel's headers).
set -eu

VERSION=2.6.0
SUITE=trixie
here=$(cd "$(dirname "$0")" && pwd)
out=$(mkdir -p "$1" && cd "$1" && pwd)
CC=${CC:-cc}
mkdir -p "$out/include" "$out/lib"

say() { printf 'libseccomp: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

if [ -n "${LIBSECCOMP_PREFIX:-}" ]; then
    for file in "$LIBSECCOMP_PREFIX/lib/libseccomp.a" "$LIBSECCOMP_PREFIX"/lib/*/libseccomp.a; do
        [ -f "$file" ] || continue
        ln -sf "$LIBSECCOMP_PREFIX/include/seccomp.h" "$LIBSECCOMP_PREFIX/include/seccomp-syscalls.h" "$out/include/"
        ln -sf "$file" "$out/lib/libseccomp.a"
        printf 'prefix\n' > "$out/version"
        exit 0
    done
    die "no libseccomp.a below $LIBSECCOMP_PREFIX"
fi

"$here/debian-source.sh" libseccomp "$VERSION" "$SUITE" "$out/work" || die "set LIBSECCOMP_PREFIX to an installation of it"

grep -q "^PACKAGE_VERSION='$VERSION'" "$out/work/source/configure" || die "the source package holds another version; remove $out"
say "building the library with $CC"
source=$out/work/changed
"$here/apply-patches.sh" "$out/work/source" "$here/libseccomp/patches" "$source" || die "the source cannot be patched"
CC=$CC AR=${AR:-ar} KERNEL_INCLUDE=${KERNEL_INCLUDE:-/usr/include} HARDENING=${HARDENING:-} "$here/libseccomp-compile.sh" "$source" "$out/work" || die "the library could not be built"
cp "$out/work/libseccomp.a" "$out/lib/libseccomp.a"
cp "$source/include/seccomp.h" "$source/include/seccomp-syscalls.h" "$out/include/"
printf '%s\n' "$VERSION" > "$out/version"
say "ready in $out"
