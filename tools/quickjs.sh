#!/bin/sh
# Provide QuickJS of exactly one version under build/quickjs: include/quickjs.h, lib/libquickjs.a, bin/qjsc.
#
# Sources, in this order: QUICKJS_PREFIX (an installation prefix), the system's own package of that version,
# and Debian's signed source package, fetched with apt through a private sources list. The machine's apt setup
# is only read. Usage: tools/quickjs.sh OUTPUT_DIRECTORY (CC and AR choose the compiler and the archiver of the library).
set -eu

VERSION=2025.04.26
SUITE=trixie
here=$(cd "$(dirname "$0")" && pwd)
out=$(mkdir -p "$1" && cd "$1" && pwd)
CC=${CC:-cc}
AR=${AR:-ar}

say() { printf 'quickjs: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

link_prefix() { # prefix include-dir lib-file
    mkdir -p "$out/include" "$out/lib" "$out/bin"
    ln -sf "$2/quickjs.h" "$out/include/quickjs.h"
    ln -sf "$3" "$out/lib/libquickjs.a"
    ln -sf "$1/bin/qjsc" "$out/bin/qjsc"
    printf '%s\n' "$VERSION" > "$out/version"
}

find_library() { # prefix
    for f in "$1/lib/quickjs/libquickjs.a" "$1"/lib/*/quickjs/libquickjs.a "$1/lib/libquickjs.a" "$1"/lib/*/libquickjs.a; do
        [ -f "$f" ] && { printf '%s\n' "$f"; return; }
    done
    return 1
}

if [ -n "${QUICKJS_PREFIX:-}" ]; then
    lib=$(find_library "$QUICKJS_PREFIX") || die "no libquickjs.a below $QUICKJS_PREFIX"
    inc=$QUICKJS_PREFIX/include/quickjs
    [ -f "$inc/quickjs.h" ] || inc=$QUICKJS_PREFIX/include
    [ -f "$inc/quickjs.h" ] || die "no quickjs.h below $QUICKJS_PREFIX"
    link_prefix "$QUICKJS_PREFIX" "$inc" "$lib"
    exit 0
fi

# A musl program cannot use an archive that was compiled against the headers of glibc, so the packaged library counts only
# where the compiler is the system's own.
if [ "$CC" = cc ] && command -v dpkg-query >/dev/null 2>&1; then
    installed=$(dpkg-query -W -f '${Version}' libquickjs 2>/dev/null || true)
    case $installed in
    "$VERSION"-*)
        if lib=$(find_library /usr) && [ -x /usr/bin/qjsc ]; then
            say "using the packaged $installed"
            link_prefix /usr /usr/include/quickjs "$lib"
            exit 0
        fi ;;
    esac
fi

work=$out/work
"$here/debian-source.sh" quickjs "$VERSION" "$SUITE" "$work" || die "set QUICKJS_PREFIX to an installation of it"
[ "$(cat "$work/source/VERSION")" = "$(printf %s "$VERSION" | tr . -)" ] || die "the source package holds another version"

say "building the library with $CC"
mkdir -p "$out/include" "$out/lib" "$out/bin" "$work/objects"
"$here/apply-patches.sh" "$work/source" "$here/quickjs/patches" "$work/changed" || die "the source cannot be patched"
cflags="-O2 -fwrapv -ffunction-sections -fdata-sections -D_GNU_SOURCE -DCONFIG_VERSION=\"$VERSION\" -w"
cflags="$cflags ${QUICKJS_CFLAGS:-}"
# No directory of the build machine gets into the library. A word of its own: the directory may have blanks in its name.
prefix_map=-ffile-prefix-map=$work/changed=quickjs
# -O3 saves 3 % of the instructions of a verb. A check at each call of the interpreter would cost as much; it runs bytecode of this program only (docs/decisions/0028-hardening.md).
hardening() { # unit
    case $1 in quickjs) printf '%s' '-fno-pie -O3' ;; *) printf '%s' "${HARDENING:-}" ;; esac
}
pids=
for unit in quickjs libregexp libunicode cutils dtoa; do
    # shellcheck disable=SC2046
    $CC $cflags "$prefix_map" $(hardening "$unit") -c "$work/changed/$unit.c" -o "$work/objects/$unit.o" &
    pids="$pids $!"
done
for pid in $pids; do wait "$pid" || die "the compilation failed"; done
(cd "$work/objects" && rm -f lib.a && $AR rcsD lib.a quickjs.o libregexp.o libunicode.o cutils.o dtoa.o)
cp "$work/objects/lib.a" "$out/lib/libquickjs.a"
cp "$work/changed/quickjs.h" "$out/include/quickjs.h"
printf '%s\n' "$VERSION" > "$out/version"
say "ready in $out"
