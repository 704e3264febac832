#!/bin/sh
# Fetch one source package of Debian and unpack it, patched, into WORK/source.
#
# apt does the fetching and the checking of signatures, with a private sources list made from the machine's own mirrors and a private
# state directory: the machine's apt setup is only read. Nothing is done when WORK/source is there already.
# Usage: tools/debian-source.sh PACKAGE UPSTREAM_VERSION SUITE WORK
set -eu

package=$1 version=$2 suite=$3
here=$(cd "$(dirname "$0")" && pwd)
work=$(mkdir -p "$4" && cd "$4" && pwd)

say() { printf '%s: %s\n' "$package" "$*" >&2; }
die() { say "$*"; exit 1; }

[ ! -d "$work/source" ] || exit 0
command -v apt-get >/dev/null 2>&1 || die "version $version is needed, and there is no apt here to fetch its source with"
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
[ -f "$keyring" ] || die "the keyring of the Debian archive is missing: apt-get install debian-archive-keyring"

apt_version() { # apt options
    apt-cache "$@" showsrc "$package" 2>/dev/null | sed -n "s/^Version: \($version-.*\)/\1/p" | head -n 1
}

fetch() { # archive-uri
    apt=$work/apt
    rm -rf "$apt"
    mkdir -p "$apt/state/lists/partial" "$apt/cache/archives/partial" "$apt/log"
    printf 'deb-src [signed-by=%s] %s %s main\n' "$keyring" "$1" "$suite" > "$apt/sources.list"
    : > "$apt/status"
    set -- -o Dir::Etc::SourceList="$apt/sources.list" -o Dir::Etc::SourceParts=/dev/null -o Dir::State="$apt/state" \
        -o Dir::State::status="$apt/status" -o Dir::Cache="$apt/cache" -o Dir::Log="$apt/log" \
        -o APT::Sandbox::User=root -o Acquire::Languages=none -o Acquire::Retries=3 -q
    apt-get "$@" update >&2 || return 1
    (cd "$work" && apt-get "$@" --only-source --download-only source "$package=$(apt_version "$@")") >&2
}

uris=$("$here/debian-archives.sh")
[ -n "$uris" ] || die "apt knows no archive to fetch the source package ($version) from"
fetched=
for uri in $uris; do
    say "fetching the source package $version ($suite) from $uri"
    if fetch "$uri"; then fetched=yes; break; fi
done
[ -n "$fetched" ] || die "cannot fetch the source package $version with apt"
rm -rf "$work/apt" "$work/unpacked"
dpkg-source --no-check -x "$work/${package}_$version"-*.dsc "$work/unpacked" >&2
mv "$work/unpacked" "$work/source"
