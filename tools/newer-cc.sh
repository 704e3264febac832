#!/bin/sh
# Compile one C file with the compiler and the headers of a newer Debian, for its warnings and errors: what comes out is thrown away.
# TREE is what tools/debian-tree.sh has unpacked; nothing of it is installed. Usage: tools/newer-cc.sh TREE musl|glibc FLAG... FILE
set -eu
tree=$1 library=$2
shift 2

# Sets $found to the one file of that name.
find_one() { # pattern
    for found in $1; do [ ! -e "$found" ] || return 0; done
    printf 'newer-cc: there is no %s\n' "$1" >&2
    exit 1
}

find_one "$tree/usr/libexec/gcc/*/*/cc1"
compiler=$found
find_one "$tree/usr/lib64/ld-linux-*.so.*"
loader=$found
find_one "$tree/usr/lib/gcc/*/*/include"
own=$found
multiarch=$(basename "$(dirname "$(dirname "$own")")")
case $library in
musl) set -- -isystem "$tree/usr/include/$(uname -m)-linux-musl" -isystem "$own" "$@" ;;
glibc) set -- -isystem "$own" -isystem "$tree/usr/include/$multiarch" -isystem "$tree/usr/include" "$@" ;;
esac
exec "$loader" --library-path "$tree/usr/lib/$multiarch" "$compiler" -quiet -nostdinc "$@" -o /dev/null
