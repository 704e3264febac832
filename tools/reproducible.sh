#!/bin/bash
# Build this tree twice from the sources, with as little in common as one machine allows: directory, user, umask, locale, time zone, host name,
# environment, number of jobs, moment. The programs must be the same bytes. The sources of QuickJS and libseccomp are those in build/ (they are
# signed); their objects are made anew. Without root there is only one user and one host name, which is said.
# With `release`: all that `make release` writes, for both machines, of the commit that is checked out.
# Usage: tools/reproducible.sh [release]
set -eu
cd "$(dirname "$0")/.."
here=$PWD
case ${1:-} in
'')
    targets='bin/runt bin/runtctl sbom'
    results='bin/runt bin/runtctl build/runt-init build/runt.spdx.json build/runt.cdx.json build/runtd.spdx.json build/runtd.cdx.json'
    ;;
release) targets=release results= ;;
*) echo "usage: tools/reproducible.sh [release]" >&2; exit 2 ;;
esac

for library in quickjs libseccomp; do
    [ -d "build/$library/work/source" ] || { echo "reproducible: no source of $library in build/: run make first" >&2; exit 1; }
done
# The npm packages of the lock file are an input of both builds.
[ -d node_modules/esbuild ] || { echo "reproducible: no node_modules: run make first" >&2; exit 1; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"

tree() { # directory: the working tree as it is, with its history, in which the commit is looked up
    git clone -q --no-hardlinks "$here" "$1" 2>/dev/null || mkdir -p "$1"
    # A release is of a commit. The packages of its lock file are there: it is no newer than they are.
    if [ "$targets" = release ]; then touch -r package-lock.json "$1/package-lock.json"; else copy_changes "$1"; fi
    for library in quickjs libseccomp; do
        mkdir -p "$1/build/$library/work"
        cp -R build/$library/work/source build/$library/work/*.dsc build/$library/work/*.orig.tar.* "$1/build/$library/work/"
    done
    if [ "$targets" = release ] && [ -d build/arm64/build/toolchain/musl ]; then
        mkdir -p "$1/build/arm64/build/toolchain"
        cp -R build/arm64/build/toolchain/musl "$1/build/arm64/build/toolchain/musl"
    fi
    touch "$1/build/.setup"
}

copy_changes() { # directory
    git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' file; do
        [ ! -e "$file" ] || printf '%s\0' "$file"
    done | tar --null --no-recursion -T - -cf - | tar -C "$1" -xf -
    git ls-files -z --deleted | (cd "$1" && xargs -0 -r rm -f)
}

first=$work/a
second=$work/another_directory/with.a.longer-name
mkdir -p "$work/another_directory"
tree "$first"
cp -R "$first" "$second"
# One tree has a link to the npm packages, the other a copy. What is in the second was unpacked under another umask.
ln -s "$here/node_modules" "$first/node_modules"
cp -R node_modules "$second/node_modules"
chmod -R go-rwx "$second"

build='nice -n 10 make '$targets' >../build.log 2>&1 || { tail -20 ../build.log >&2; exit 1; }'
(cd "$first" && umask 022 && env -i PATH="$PATH" HOME="$HOME" LC_ALL=C TZ=UTC sh -c "$build")
other() { # command...
    (cd "$second" && umask 077 && env -i PATH="/nonexistent:$PATH" HOME="$second" LC_ALL=C.UTF-8 TZ=Asia/Tokyo USER=somebody LANGUAGE=fr \
        MAKEFLAGS=-j3 SOMETHING="$(seq 1 500 | tr '\n' ' ')" "$@")
}
if [ "$(id -u)" = 0 ]; then
    # A user id without an entry in /etc/passwd.
    chown -R -h 54321:54321 "$work/another_directory"
    other unshare --uts sh -c "hostname somewhere-else && exec setpriv --reuid 54321 --regid 54321 --clear-groups sh -c '$build'"
else
    echo "reproducible: not root: one user and one host name for both builds" >&2
    other sh -c "$build"
fi

failed=0
[ "$targets" != release ] || results=$(cd "$first" && ls -d build/release/* && cd "$second" && ls -d build/release/*)
for file in $(printf '%s\n' $results | sort -u); do
    for directory in "$first" "$second"; do (cd "$directory" && sha256sum "$file"); done
    cmp -s "$first/$file" "$second/$file" || {
        printf 'reproducible: %s differs:\n' "$file" >&2
        cmp -l "$first/$file" "$second/$file" 2>&1 | head -20 >&2
        failed=1
    }
done
exit $failed
