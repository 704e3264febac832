#!/bin/sh
# Run a command in a mount namespace in which /sys/fs/cgroup is the unified hierarchy: without controllers where the host runs v1.
# Usage: unified.sh COMMAND [ARGUMENT]...
set -eu
[ "${IN_NAMESPACE:-}" ] || IN_NAMESPACE=yes exec unshare --mount --propagation private -- "$0" "$@"
unset IN_NAMESPACE
umount -R /sys/fs/cgroup
mount -t cgroup2 cgroup2 /sys/fs/cgroup
exec "$@"
