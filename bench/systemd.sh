#!/bin/sh
# A command beside a systemd of its own: systemd is the first process of a PID namespace, with a message bus and nothing else, on cgroup v2 in a mount
# namespace. What the host's hierarchies of v1 have taken is no controller there. As root; the host needs the packages systemd and dbus.
# Usage: bench/systemd.sh COMMAND [ARGUMENT...]
set -eu

if [ "${1:-}" != --inside ]; then
    name=runt-systemd-$$
    work=$(mktemp -d /tmp/$name.XXXXXX)
    end() {
        # systemd's own cgroups stay when it is gone.
        unshare --mount --propagation private -- sh -c '
            mount -t cgroup2 cgroup2 "$1" && find "$1/$2" -depth -type d -exec rmdir {} \; ; umount "$1"' sh "$work" "$name"
        rm -rf "$work"
    }
    trap end EXIT
    trap 'exit 130' INT TERM HUP
    quote() { for word; do printf "'%s' " "$(printf %s "$word" | sed "s/'/'\\\\''/g")"; done; }
    # What systemd starts is in another environment.
    { echo "cd $(quote "$PWD")"; echo "export PATH=$(quote "$PATH")"; echo "exec $(quote "$@")"; } >"$work/command"
    unshare --mount --propagation private --pid --fork --kill-child --mount-proc --uts -- "$0" --inside "$name" "$work" </dev/null || true
    cat "$work/output"
    exit "$(cat "$work/status" 2>/dev/null || echo 1)"
fi

name=$2 work=$3
umount --recursive /sys/fs/cgroup
mount -t cgroup2 cgroup2 /sys/fs/cgroup
mkdir "/sys/fs/cgroup/$name"
echo 0 >"/sys/fs/cgroup/$name/cgroup.procs"
mount -t tmpfs -o mode=755 tmpfs /run
# systemd sets limits of the whole kernel where it may.
mount --bind /proc/sys /proc/sys
mount -o remount,bind,ro /proc/sys
mkdir -p /run/systemd/system /run/dbus
cd /run/systemd/system
# Without the dependencies that a machine has: devices, file systems, log-ins.
cat >own.target <<END
[Unit]
DefaultDependencies=no
Requires=dbus.socket own.service
END
cat >dbus.socket <<END
[Unit]
DefaultDependencies=no
[Socket]
ListenStream=/run/dbus/system_bus_socket
END
cat >dbus.service <<END
[Unit]
DefaultDependencies=no
Requires=dbus.socket
[Service]
Type=notify
ExecStart=dbus-daemon --system --address=systemd: --nofork --nopidfile --systemd-activation --syslog-only
END
cat >own.service <<END
[Unit]
DefaultDependencies=no
After=dbus.socket
[Service]
Type=oneshot
Delegate=yes
TimeoutStartSec=infinity
StandardOutput=file:$work/output
StandardError=file:$work/output
ExecStart=sh $work/command
ExecStopPost=sh -c 'echo \$EXIT_STATUS >$work/status; systemctl --force --force poweroff 2>/dev/null'
END
# Its view of the hierarchy begins at its own cgroup.
exec unshare --cgroup sh -c 'umount /sys/fs/cgroup; mount -t cgroup2 cgroup2 /sys/fs/cgroup
    container=runt SYSTEMD_LOG_TARGET=null exec /lib/systemd/systemd --system --unit=own.target'
