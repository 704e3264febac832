#!/bin/sh
# A whole Debian of a suite as TARGET, with PACKAGES installed as a person would install them: for what is to be tried on a fresh host.
# As root. It takes the machine's own mirror, network, certificates and npm settings. Nothing is done when TARGET is there already.
# Usage: tools/debian-host.sh SUITE TARGET PACKAGE...
set -eu

suite=$1 target=$2
shift 2
here=$(cd "$(dirname "$0")" && pwd)

say() { printf '%s: %s\n' "$target" "$*" >&2; }

[ ! -d "$target" ] || exit 0
command -v debootstrap >/dev/null 2>&1 || { say "debootstrap is missing"; exit 1; }
mkdir -p "$(dirname "$target")"
making=$(cd "$(dirname "$target")" && pwd)/$(basename "$target").new
for uri in $("$here/debian-archives.sh"); do
    say "making it ($suite) from $uri"
    rm -rf "$making"
    debootstrap --variant=minbase --include=ca-certificates "$suite" "$making" "$uri" >&2 || continue
    cp /etc/apt/apt.conf.d/* "$making/etc/apt/apt.conf.d/"
    printf '#!/bin/sh\nexit 101\n' >"$making/usr/sbin/policy-rc.d"
    chmod 755 "$making/usr/sbin/policy-rc.d"
    "$here/in-debian-host.sh" "$making" sh -c 'apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$@"' sh "$@" >&2 || continue
    # Renamed in one step: a half-finished directory would be taken for a finished one.
    mv "$making" "$target"
    exit 0
done
say "it cannot be made from what apt knows here"
exit 1
