#!/bin/sh
# Build a small root file system from Debian's busybox-static. Usage: bundles/make-rootfs.sh DIRECTORY
set -eu
# Users other than root enter it, too.
umask 022

target=${1:?usage: make-rootfs.sh DIRECTORY}
busybox=${BUSYBOX:-/bin/busybox}

[ -x "$busybox" ] || { echo "make-rootfs: $busybox is missing (Debian package busybox-static)" >&2; exit 1; }
if "$busybox" | head -n 1 | grep -q BusyBox && ldd "$busybox" >/dev/null 2>&1; then
    echo "make-rootfs: $busybox is not a static program (Debian package busybox-static)" >&2
    exit 1
fi

mkdir -p "$target"
cd "$target"
mkdir -p bin dev etc home/user proc root run sbin sys tmp usr/bin usr/sbin var
chmod 1777 tmp
install -m 0755 "$busybox" bin/busybox
for applet in $(bin/busybox --list-full); do
    [ "$applet" = bin/busybox ] && continue
    case $applet in
    */*) ;;
    *) applet=bin/$applet ;;
    esac
    [ -d "${applet%/*}" ] || mkdir -p "${applet%/*}"
    ln -sf /bin/busybox "$applet"
done
cat >etc/passwd <<EOF
root:x:0:0:root:/root:/bin/sh
user:x:1000:1000:user:/home/user:/bin/sh
EOF
cat >etc/group <<EOF
root:x:0:
user:x:1000:
EOF
echo runt >etc/hostname
