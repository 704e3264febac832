#!/bin/sh
# Make the guest's root disk and kernel from Debian packages: OUTPUT/KERNEL/root.img and OUTPUT/KERNEL/vmlinuz, where KERNEL is the suite that the
# kernel is from. Nothing that changes with the tests is in them, so they are made once; OUTPUT/KERNEL/key tells from what. For the newest kernel of
# its suite remove OUTPUT/KERNEL. As root, in a mount namespace of its own. Usage: build.sh OUTPUT KERNEL
set -eu

SUITE=bookworm
ARCHITECTURE=amd64
SIZE=1536M
USER_ID=1000

here=$(cd "$(dirname "$0")" && pwd)
repository=$(cd "$here/../../.." && pwd)
suite_of_kernel=$2
packages=$(mkdir -p "$1/packages" && cd "$1/packages" && pwd)
out=$(mkdir -p "$1/$suite_of_kernel" && cd "$1/$suite_of_kernel" && pwd)
key=$(cat "$here"/* "$repository/tools/guest-image/kernel.sh" | sha256sum | cut -d' ' -f1)

say() { printf 'guest image: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

[ ! -e "$out/root.img" ] || [ ! -e "$out/vmlinuz" ] || [ "$(cat "$out/key" 2>/dev/null)" != "$key" ] || exit 0
[ "$(id -u)" = 0 ] || die "only root can make it"
# One at a time; and what debootstrap mounts ends with the namespace, however it ends.
[ "${IN_NAMESPACE:-}" ] || IN_NAMESPACE=yes exec flock "$packages/../.lock" unshare --mount --propagation private --pid --fork --kill-child -- "$0" "$@"

root=$out/root
log=$out/image.log
rm -rf "$root" "$out/key" "$out"/*.new
trap 'rm -rf "$root"' EXIT
include=$(paste -sd, "$here/packages")
made=
for archive in $("$repository/tools/debian-archives.sh"); do
    say "Debian $SUITE from $archive (about a minute; log: $log)"
    if debootstrap --arch=$ARCHITECTURE --variant=minbase --cache-dir="$packages" --include="$include" $SUITE "$root" "$archive" >"$log" 2>&1; then
        made=yes
        break
    fi
    rm -rf "$root"
done
[ -n "$made" ] || { tail -n 20 "$log" >&2; die "debootstrap failed"; }

# The kernel without the packages that would make an initrd for it.
"$repository/tools/guest-image/kernel.sh" "$suite_of_kernel" "$root/kernel" >>"$log" 2>&1 || die "cannot fetch the kernel"
release=$(cat "$root/kernel/release")
mv "$root/kernel/boot/vmlinuz-$release" "$out/vmlinuz.new"
mkdir -p "$root/lib/modules"
mv "$root/kernel/lib/modules/$release" "$root/lib/modules/"
rm -rf "$root/kernel"
chroot "$root" depmod "$release"

rm -rf "$root"/usr/share/doc/* "$root"/usr/share/man/* "$root"/usr/share/locale/* "$root"/usr/share/i18n/* \
    "$root"/var/cache/apt/* "$root"/var/lib/apt/lists/* "$root"/var/log/*

# The user of rootless tests, with ids to map; the user manager may hand on every controller.
chroot "$root" useradd --uid $USER_ID --create-home --shell /bin/sh guest
grep -q '^guest:' "$root/etc/subuid" || echo guest:100000:65536 | tee "$root/etc/subuid" >"$root/etc/subgid"
mkdir -p "$root/etc/systemd/system/user@.service.d"
printf '[Service]\nDelegate=cpu cpuset io memory pids\n' >"$root/etc/systemd/system/user@.service.d/delegate.conf"

echo guest >"$root/etc/hostname"
echo 127.0.0.1 localhost guest >"$root/etc/hosts"
echo 00000000000000000000000000000001 >"$root/etc/machine-id"
rm -f "$root/etc/resolv.conf"
: >"$root/etc/fstab"
install -m 0755 "$here/agent.sh" "$root/usr/local/sbin/guest-agent"
install -m 0644 "$here/guest.service" "$here/guest.target" "$root/etc/systemd/system/"
# Nothing here needs them, and each costs time under emulation.
for unit in systemd-udevd.service systemd-udev-trigger.service systemd-udevd-kernel.socket systemd-udevd-control.socket \
    systemd-journal-flush.service systemd-random-seed.service systemd-update-utmp.service systemd-update-utmp-runlevel.service \
    systemd-remount-fs.service systemd-firstboot.service systemd-sysusers.service systemd-machine-id-commit.service \
    systemd-fsck-root.service systemd-pcrphase.service systemd-pcrphase-sysinit.service systemd-binfmt.service \
    proc-sys-fs-binfmt_misc.automount modprobe@configfs.service modprobe@drm.service modprobe@efi_pstore.service \
    getty.target timers.target; do
    ln -sf /dev/null "$root/etc/systemd/system/$unit"
done

rm -f "$out/root.img.new"
mke2fs -q -t ext4 -O ^has_journal,^metadata_csum -L root -d "$root" "$out/root.img.new" $SIZE >>"$log" 2>&1 || die "mke2fs failed"
mv "$out/vmlinuz.new" "$out/vmlinuz"
mv "$out/root.img.new" "$out/root.img"
printf '%s\n' "$key" >"$out/key"
say "ready: Linux $release"
