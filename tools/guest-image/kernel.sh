#!/bin/sh
# Unpack Debian's cloud kernel of SUITE into TARGET, without installing it: boot/vmlinuz-RELEASE and lib/modules. TARGET/release says which it is.
#
# The package linux-image-cloud-ARCH has no files: it depends on the newest kernel of its suite. From Debian 14 on that one has none either and
# depends on more of its release, with the kernel, its modules and the lists of both, below usr/lib/modules. apt does the fetching and the checking of signatures,
# as in tools/debian-package.sh. Nothing is done when TARGET is there already.
# Usage: tools/guest-image/kernel.sh SUITE TARGET
set -eu

suite=$1 target=$2
here=$(cd "$(dirname "$0")/.." && pwd)

say() { printf 'guest kernel: %s\n' "$*" >&2; }

[ ! -d "$target" ] || exit 0
. "$here/debian-apt.sh"
meta=linux-image-cloud-$(dpkg --print-architecture)

fetch() { # archive-uri
    printf 'deb [signed-by=%s] %s %s main\n' "$keyring" "$1" "$suite" >"$work/sources.list"
    set -- -o Dir::Etc::SourceList="$work/sources.list" -o Dir::Etc::SourceParts=/dev/null -o Dir::State="$work/state" \
        -o Dir::State::status="$work/status" -o Dir::Cache="$work/cache" -o Dir::Log="$work/log" \
        -o APT::Sandbox::User=root -o Acquire::Languages=none -o Acquire::Retries=3 -q
    apt-get "$@" update >&2 || return 1
    kernel=$(apt-cache "$@" depends "$meta" | sed -n 's/.*Depends: \(linux-image-[0-9]\)/\1/p')
    [ -n "$kernel" ] || return 1
    parts=$(apt-cache "$@" depends "$kernel" | sed -n 's/.*Depends: \(linux-\(base\|binary\|modules\)-[0-9]\)/\1/p')
    # shellcheck disable=SC2086
    (cd "$work" && apt-get "$@" download "$kernel" $parts) >&2
}

for uri in $("$here/debian-archives.sh"); do
    say "fetching $meta ($suite) from $uri"
    rm -f "$work"/*.deb
    fetch "$uri" || continue
    for package in "$work"/*.deb; do dpkg-deb -x "$package" "$work/tree"; done
    release=${kernel#linux-image-}
    if [ -d "$work/tree/usr/lib/modules" ]; then
        mkdir "$work/tree/boot" "$work/tree/lib"
        mv "$work/tree/usr/lib/modules" "$work/tree/lib/modules"
        mv "$work/tree/lib/modules/$release/vmlinuz" "$work/tree/boot/vmlinuz-$release"
    fi
    printf '%s\n' "$release" >"$work/tree/release"
    mkdir -p "$(dirname "$target")"
    # Renamed in one step: a half-finished directory would be taken for a finished one.
    rm -rf "$target.new"
    cp -a "$work/tree" "$target.new"
    mv "$target.new" "$target"
    exit 0
done
say "no archive that apt knows has it ($suite)"
exit 1
