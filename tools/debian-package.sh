#!/bin/sh
# Unpack the newest version of a binary package that a suite of Debian has into TARGET, without installing it: for a program that needs
# no more libraries than there are; with ARCHITECTURE of another machine than this one. TARGET/version says which it is,
# TARGET/control also its name and architecture.
#
# apt does the fetching and the checking of signatures, with a private sources list made from the machine's own mirrors and a private
# state directory: the machine's apt setup is only read. Nothing is done when TARGET is there already.
# Usage: tools/debian-package.sh PACKAGE SUITE TARGET [ARCHITECTURE]
set -eu

package=$1 suite=$2 target=$3 architecture=${4:-$(dpkg --print-architecture)}
here=$(cd "$(dirname "$0")" && pwd)

say() { printf '%s: %s\n' "$package" "$*" >&2; }

[ ! -d "$target" ] || exit 0
. "$here/debian-apt.sh"

fetch() { # archive-uri
    printf 'deb [signed-by=%s] %s %s main\n' "$keyring" "$1" "$suite" >"$work/sources.list"
    set -- -o APT::Architecture="$architecture" -o Dir::Etc::SourceList="$work/sources.list" -o Dir::Etc::SourceParts=/dev/null -o Dir::State="$work/state" \
        -o Dir::State::status="$work/status" -o Dir::Cache="$work/cache" -o Dir::Log="$work/log" \
        -o APT::Sandbox::User=root -o Acquire::Languages=none -o Acquire::Retries=3 -q
    apt-get "$@" update >&2 || return 1
    (cd "$work" && apt-get "$@" download "$package") >&2
}

for uri in $("$here/debian-archives.sh"); do
    say "fetching it ($suite) from $uri"
    fetch "$uri" || continue
    dpkg-deb -x "$work/$package"_*.deb "$work/tree"
    dpkg-deb -f "$work/$package"_*.deb Version >"$work/tree/version"
    dpkg-deb -f "$work/$package"_*.deb Package Version Architecture >"$work/tree/control"
    mkdir -p "$(dirname "$target")"
    # Renamed in one step: a half-finished directory would be taken for a finished one.
    cp -a "$work/tree" "$target.new"
    mv "$target.new" "$target"
    exit 0
done
say "no archive that apt knows has it ($suite)"
exit 1
