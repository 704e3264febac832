#!/bin/sh
# Run a command while the host is busy: load on every processor, containers of runc and crun (those that are installed), mounts and networks
# that come and go. The tests must pass there. Needs root. Usage: tools/busy-host.sh COMMAND [ARGUMENT...]
# Ends with the command's status, or with 1 if the load could not be started. Everything it started is killed at the end, by process id.
set -u
[ $# -gt 0 ] || { echo "usage: busy-host.sh COMMAND [ARGUMENT...]" >&2; exit 2; }
[ "$(id -u)" = 0 ] || { echo "busy-host.sh: containers and networks need root" >&2; exit 2; }
here=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/busy-host.XXXXXX")
runtimes=
for name in runc crun; do command -v $name >/dev/null && runtimes="$runtimes $name"; done

# They end when this script is killed, too.
goes_on() { [ -e "$work/on" ] && kill -0 $$ 2>/dev/null; }

processor() {
    while goes_on; do
        i=0
        while [ $i -lt 100000 ]; do i=$((i + 1)); done
    done
}

# crun makes directories in the tmpfs for hierarchies of v1 that are mounted elsewhere, and leaves them.
without_cgroups() {
    sed -n 's/^[1-9][0-9]*:\([^:=]*\):.*/\1/p' /proc/self/cgroup | while read -r names; do
        [ -e "/sys/fs/cgroup/$names/cgroup.procs" ] || { echo --cgroup-manager=disabled; break; }
    done
}

# Nor does it run where v2 has controllers beside v1: these are hidden from it.
runtime() { # name arguments
    if [ "$1" = crun ] && [ -n "$(cat /sys/fs/cgroup/unified/cgroup.controllers 2>/dev/null)" ]; then
        unshare --mount sh -c 'mount -t tmpfs tmpfs /sys/fs/cgroup/unified && exec "$@"' sh "$@"
    else
        "$@"
    fi
}

# Three containers of a runtime at a time, the oldest is replaced.
containers() { # runtime
    count=0
    options=
    [ "$1" != crun ] || options=$(without_cgroups)
    while goes_on; do
        # shellcheck disable=SC2086
        runtime "$1" --root "$work/$1" $options run --detach --bundle "$work/bundle" "busy-$$-$1-$count" </dev/null >/dev/null 2>"$work/$1.error" &&
            echo "$count" >"$work/$1.count"
        sleep 0.2
        [ $count -lt 3 ] || runtime "$1" --root "$work/$1" delete --force "busy-$$-$1-$((count - 3))" >/dev/null 2>&1
        count=$((count + 1))
    done
    for id in $(runtime "$1" --root "$work/$1" list --quiet); do runtime "$1" --root "$work/$1" delete --force "$id"; done
}

networks() {
    count=0
    while goes_on; do
        unshare --net sleep 5 &
        space=$!
        until [ "$(readlink "/proc/$space/ns/net")" != "$(readlink "/proc/$$/ns/net")" ]; do sleep 0.05; done
        ip link add "busy$(($$ % 100000))v$((count % 100))" type veth peer name eth0 netns $space 2>"$work/networks.error" && echo "$count" >"$work/networks.count"
        sleep 0.2
        # The namespace goes with its last process, the pair with the namespace.
        kill -KILL $space
        wait $space 2>/dev/null
        count=$((count + 1))
    done
}

mounts() {
    while goes_on; do
        mount -t tmpfs busy "$work/mount" && sleep 0.1 && umount "$work/mount"
        sleep 0.1
    done
}

others=
finish() {
    status=${1:-$?}
    trap - EXIT HUP INT TERM
    rm -f "$work/on"
    # shellcheck disable=SC2086
    [ -z "$others" ] || wait $others
    for name in $runtimes networks; do
        if [ -s "$work/$name.count" ]; then
            printf 'busy host: %s came and went beside it: %s\n' "$name" "$(($(cat "$work/$name.count") + 1))" >&2
        else
            printf 'busy host: no %s: %s\n' "$name" "$(cat "$work/$name.error")" >&2
            [ "$status" -ne 0 ] || status=1
        fi
    done
    rm -rf --one-file-system "$work"
    exit "$status"
}
trap finish EXIT
trap 'finish 129' HUP
trap 'finish 130' INT
trap 'finish 143' TERM

mkdir "$work/bundle" "$work/mount"
"$here/bundles/make-rootfs.sh" "$work/bundle/rootfs"
# Their cgroups are where those runtimes put them.
sed -e '/"cgroupsPath"/d' -e 's|"echo .*"|"exec sleep 1000"|' "$here/bundles/hello/config.json" >"$work/bundle/config.json"
: >"$work/on"
# A signal to all of the group ends the command; these end by themselves, each at a point where nothing of its own is left.
begin() {
    (trap '' HUP INT TERM; "$@") &
    others="$others $!"
}
for _ in $(seq "$(nproc)"); do begin processor; done
for name in $runtimes; do begin containers "$name"; done
begin networks
begin mounts

"$@"
finish $?
