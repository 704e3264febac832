#!/bin/sh
# Unpack packages of a suite of Debian, with everything they depend on, into TARGET: a tree to run programs of another Debian in. Nothing is
# installed, no script of a package runs but ldconfig.
#
# apt does the fetching and the checking of signatures, with a private sources list made from the machine's own mirrors and a private
# state directory: the machine's apt setup is only read. Nothing is done when TARGET is there already; remove it for newer ones.
# Usage: tools/debian-tree.sh SUITE TARGET PACKAGE...
set -eu

suite=$1 target=$2
shift 2
here=$(cd "$(dirname "$0")" && pwd)

say() { printf '%s: %s\n' "$target" "$*" >&2; }

[ ! -d "$target" ] || exit 0
. "$here/debian-apt.sh"

fetch() { # archive-uri packages
    printf 'deb [signed-by=%s] %s %s main\n' "$keyring" "$1" "$suite" >"$work/sources.list"
    shift
    options="-o Dir::Etc::SourceList=$work/sources.list -o Dir::Etc::SourceParts=/dev/null -o Dir::State=$work/state
        -o Dir::State::status=$work/status -o Dir::Cache=$work/cache -o Dir::Log=$work/log
        -o APT::Sandbox::User=root -o Acquire::Languages=none -o Acquire::Retries=3 -q"
    # shellcheck disable=SC2086
    apt-get $options update >&2 && apt-get $options install -y --no-install-recommends --download-only "$@" >&2
}

for uri in $("$here/debian-archives.sh"); do
    say "fetching $* ($suite) from $uri"
    fetch "$uri" "$@" || continue
    tree=$work/tree
    mkdir -p "$tree/usr/bin" "$tree/usr/sbin" "$tree/usr/lib" "$tree/usr/lib64" "$tree/etc" "$tree/tmp" "$tree/run" "$tree/proc" "$tree/sys" "$tree/dev"
    for name in bin sbin lib lib64; do ln -s "usr/$name" "$tree/$name"; done
    # tar keeps the links that stand for directories.
    for package in "$work"/cache/archives/*.deb; do dpkg-deb --fsys-tarfile "$package" | tar -x --keep-directory-symlink -C "$tree"; done
    [ -e "$tree/bin/sh" ] || ln -s dash "$tree/usr/bin/sh"
    printf 'root:x:0:0:root:/root:/bin/sh\n' >"$tree/etc/passwd"
    ldconfig -r "$tree"
    mkdir -p "$(dirname "$target")"
    # Renamed in one step: a half-finished directory would be taken for a finished one.
    rm -rf "$target.new"
    cp -a "$tree" "$target.new"
    mv "$target.new" "$target"
    exit 0
done
say "no archive that apt knows has all of them ($suite)"
exit 1
