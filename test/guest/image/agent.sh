#!/bin/sh
# First process of the tests in the guest: finds the disks, hands over to the payload's script, takes the results out and ends the machine.
# A kernel panic ends QEMU as politely as this does: only the file `rc` in the results tells that the script has ended.
exec </dev/null >/dev/console 2>&1
echo "guest: up after $(cut -d' ' -f1 /proc/uptime) s, Linux $(uname -r), $(systemctl --version | head -n 1)"

disk() { # serial number
    for serial in /sys/block/vd*/serial; do
        [ "$(cat "$serial")" != "$1" ] || { device=${serial%/serial} && echo "/dev/${device##*/}"; }
    done
}

export RESULTS=/run/results RESULTS_DISK PAYLOAD=/payload
mkdir -p $RESULTS $PAYLOAD
modprobe virtio_blk
mount -t tmpfs -o mode=1777 tmpfs /tmp
mount -t ext4 -o noatime "$(disk payload)" $PAYLOAD
RESULTS_DISK=$(disk results)
$PAYLOAD/repository/test/guest/inside.sh
echo $? >$RESULTS/rc
tar -C $RESULTS -cf "$RESULTS_DISK" .
sync
echo "guest: down after $(cut -d' ' -f1 /proc/uptime) s"
poweroff -ff
