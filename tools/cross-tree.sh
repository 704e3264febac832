#!/bin/sh
# Make DIRECTORY a place in which `make TARGET=TRIPLET` builds for another machine: the sources of this tree, links to its npm packages and to dist/,
# bin/ and build/ of its own. Below build/toolchain is a compiler for that machine with musl, which Debian has as a package of that
# ARCHITECTURE only: it is unpacked there, not installed. Usage: tools/cross-tree.sh DIRECTORY TRIPLET ARCHITECTURE
set -eu
cd "$(dirname "$0")/.."
directory=$1 triplet=$2 architecture=$3

mkdir -p "$directory/bin" "$directory/build"
for entry in *; do
    case $entry in
    bin | build) ;;
    dist | node_modules | test) ln -sfnr "$entry" "$directory/$entry" ;;
    # With their times, by which make goes. No links: a program of tools/ goes by its own place.
    *) rm -rf "${directory:?}/$entry" && cp -a "$entry" "$directory/$entry" ;;
    esac
done

# The sources of the two libraries are signed, and here already; their objects are of that machine.
for library in quickjs libseccomp; do
    [ -d "build/$library/work/source" ] || continue
    [ ! -d "$directory/build/$library/work/source" ] || continue
    mkdir -p "$directory/build/$library/work"
    cp build/$library/work/*.dsc build/$library/work/*.orig.tar.* "$directory/build/$library/work/"
    cp -R "build/$library/work/source" "$directory/build/$library/work/source.new"
    mv "$directory/build/$library/work/source.new" "$directory/build/$library/work/source"
done

toolchain=build/toolchain
suite=$(. /etc/os-release && [ "$ID" = debian ] && printf %s "${VERSION_CODENAME:-}" || true)
tools/debian-package.sh musl-dev "${suite:-bookworm}" "$directory/$toolchain/musl" "$architecture"
cd "$directory"
machine=${triplet%%-*}
# Relative to this directory, in which make runs: the name of a directory may have blanks, which the file of specs cannot have.
sed "s|/usr/lib/$machine-linux-musl|$toolchain/musl/usr/lib/$machine-linux-musl|g; s|/usr/include/$machine-linux-musl|$toolchain/musl/usr/include/$machine-linux-musl|g" \
    "$toolchain/musl/usr/lib/$machine-linux-musl/musl-gcc.specs" >"$toolchain/musl-gcc.specs"
cat >"$toolchain/musl-gcc" <<EOF
#!/bin/sh
exec $triplet-gcc "\$@" -specs $toolchain/musl-gcc.specs
EOF
chmod 0755 "$toolchain/musl-gcc"
# What the build needs is here: the tree that this one is made of has asked for it.
touch build/.setup
