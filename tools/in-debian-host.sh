#!/bin/sh
# Run a command in a tree of tools/debian-host.sh, as on a machine of its own: with its own mounts and processes, with the cgroups, devices and
# network of this one. What it writes stays in TREE. When the command ends, everything that it has started ends. As root.
# Usage: tools/in-debian-host.sh TREE COMMAND...
set -eu
tree=$(cd "$1" && pwd)
shift
# Where this machine's clients look for their registries and certificates.
variables=$(env | sed -n 's/^\([A-Za-z_]*_[Pp][Rr][Oo][Xx][Yy]\|[Nn][Pp][Mm]_[Cc][Oo][Nn][Ff][Ii][Gg]_[A-Za-z_]*\)=.*/\1/p')
set -- HOME=/root TERM=dumb PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt "$@"
for name in $variables; do
    eval "value=\$$name"
    # shellcheck disable=SC2154
    set -- "$name=$value" "$@"
done
# pivot_root(2) rather than chroot(2): in a chroot no container can be made.
exec unshare --mount --pid --fork --kill-child --propagation private sh -euc '
    tree=$0
    mount --bind "$tree" "$tree"
    cd "$tree"
    mount -t proc proc proc
    mount --rbind /sys sys
    mount --rbind /dev dev
    mount -t tmpfs tmpfs run
    for file in /etc/resolv.conf /etc/ssl/certs/ca-certificates.crt; do [ ! -e "$file" ] || cp --remove-destination "$file" "$tree$file"; done
    [ ! -e ~/.npmrc ] || cp ~/.npmrc root/.npmrc
    mkdir -p run/outside
    pivot_root . run/outside
    umount --lazy /run/outside
    rmdir /run/outside
    cd /
    exec env -i "$@"
' "$tree" "$@"
