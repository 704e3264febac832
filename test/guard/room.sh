#!/bin/sh
# Run a command where nothing of the host's mounts is seen but what it needs, so that what it counts is the same everywhere:
#   room.sh CGROUPS WORK HELPER COMMAND...
# To be called in a mount namespace of its own. CGROUPS is "host", or "bare v2" for the unified hierarchy alone. WORK is seen as /guard. HELPER lies where valgrind looks for the program of a memfd.
set -eu
kind=$1 work=$2 helper=$3
shift 3
room=$work/room
mkdir -p "$room"
mount -t tmpfs guard "$room"
for name in usr dev proc sys; do
    mkdir "$room/$name"
    mount --bind "/$name" "$room/$name"
done
# `list` reads the users: a host has as many as it likes.
mkdir "$room/etc"
echo 'root:x:0:0:root:/root:/bin/sh' > "$room/etc/passwd"
[ ! -e /etc/ld.so.cache ] || cp /etc/ld.so.cache "$room/etc"
for name in bin sbin lib lib64; do
    [ ! -L "/$name" ] || ln -s "$(readlink "/$name")" "$room/$name"
done
mkdir "$room/guard" "$room/tmp"
mount --bind "$work" "$room/guard"
cgroups=sys/fs/cgroup
if [ "$kind" = "bare v2" ]; then
    mount -t cgroup2 cgroup2 "$room/$cgroups"
elif [ -e /$cgroups/cgroup.controllers ]; then
    mount --bind /$cgroups "$room/$cgroups"
else
    mount -t tmpfs -o mode=755 cgroup "$room/$cgroups"
    # What a Debian has mounted; more may come and go with other tests.
    for name in systemd cpu cpuacct cpu,cpuacct cpuset memory devices freezer blkio pids; do
        grep -q " /$cgroups/$name " /proc/self/mountinfo || continue
        mkdir "$room/$cgroups/$name"
        mount --bind "/$cgroups/$name" "$room/$cgroups/$name"
    done
fi
cp "$helper" "$room/memfd:runt-init (deleted)"
# Not by chroot: who is in one may make no user namespace.
cd "$room"
pivot_root . .
umount -l .
exec /usr/bin/env -i PATH=/usr/sbin:/usr/bin LC_ALL=C sh -c 'cd /guard; exec "$@"' sh "$@"
