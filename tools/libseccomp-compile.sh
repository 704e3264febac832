#!/bin/sh
# Compile the sources of libseccomp into one archive, without its configure script: its release has the generated tables in it, so neither
# gperf nor autotools is needed. Usage: tools/libseccomp-compile.sh SOURCE WORK leaves WORK/libseccomp.a (CC, AR, KERNEL_INCLUDE,
# HARDENING, LIBSECCOMP_CFLAGS)
set -eu
here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$1" && pwd)
work=$(mkdir -p "$2" && cd "$2" && pwd)
CC=${CC:-musl-gcc}

objects=$work/objects
rm -rf "$objects"
mkdir -p "$objects"
# What its configure script would find out, and the kernel's headers without the rest of the system's.
printf '#define HAVE_LINUX_SECCOMP_H 1\n' > "$objects/configure.h"
kernel=$work/kernel-headers
mkdir -p "$kernel"
include=${KERNEL_INCLUDE:-/usr/include}
for name in linux asm-generic; do ln -sfn "$include/$name" "$kernel/$name"; done
# Debian has the headers of one machine in a directory of its own, unless all of them are of that machine.
if [ -d "$include/asm" ]; then ln -sfn "$include/asm" "$kernel/asm"; else ln -sfn "$include/$(cc -print-multiarch)/asm" "$kernel/asm"; fi
cflags="-O2 -ffunction-sections -fdata-sections -D_GNU_SOURCE -w ${HARDENING:--fno-pie} ${LIBSECCOMP_CFLAGS:-}"
# libseccomp/memory.c has its memory.
for name in malloc calloc realloc free; do cflags="$cflags -D$name=piece_$name"; done
# No directory of the build machine gets into the library. Words of their own: the directories may have blanks in their names.
set -- "-ffile-prefix-map=$source=libseccomp" "-ffile-prefix-map=$here=tools"
for unit in "$source"/src/*.c "$here/libseccomp/memory.c"; do
    case $unit in */arch-syscall-dump.c) continue ;; esac
    object=$objects/$(basename "$unit" .c).o
    # shellcheck disable=SC2086
    $CC $cflags "$@" -I"$objects" -I"$source/include" -I"$source/src" -idirafter "$kernel" -c "$unit" -o "$object" || {
        printf 'libseccomp: the compilation of %s failed\n' "$unit" >&2
        exit 1
    }
done
rm -f "$work/libseccomp.a"
(cd "$objects" && LC_ALL=C && export LC_ALL && ${AR:-ar} rcsD "$work/libseccomp.a" ./*.o)
