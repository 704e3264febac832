#!/bin/sh
# Link runt anew with your libseccomp (LGPL-2.1, section 6). Needs musl-gcc, binutils and the kernel's headers; nothing else of runt.
#
#   ./libseccomp-compile.sh SOURCE WORK    compiles its source directory (2.6, or what has the same interface) into WORK/libseccomp.a
#   ./relink.sh [WORK/libseccomp.a]        leaves ./runt; without an argument with the library it came with
#
# On another machine than the program's: CC, AR, OBJCOPY and KERNEL_INCLUDE are those for it, EMULATOR runs a program of it.
set -eu
library=$(realpath "${1:-$(dirname "$0")/build/libseccomp/lib/libseccomp.a}")
cd "$(dirname "$0")"
"${CC:-musl-gcc}" @LDFLAGS@ @OBJECTS@ build/quickjs/lib/libquickjs.a "$library" -lm -o runt-image-writer
# Under this name the program prints the memory of its started engine, which becomes part of it.
${EMULATOR:-} ./runt-image-writer >engine.image
"${OBJCOPY:-objcopy}" -S --update-section .image=engine.image runt-image-writer runt
rm -f runt-image-writer engine.image
printf 'linked %s with %s\n' "$PWD/runt" "$library"
