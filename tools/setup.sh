#!/bin/sh
# Make sure that what the build (and, with the argument "test", the tests) needs is installed: apt packages where this
# is possible, npm packages of the lock file. "engines", "guest", "hosts", "vm", "cross", "release", "site" and "fuzz": also what `make test-engines`, `make test-guest`,
# `make test-hosts`, `make guest-image`, `make arm64`, `make release`, `make test-site` and `make fuzz-init` need; no service is started.
# Usage: tools/setup.sh build|test|engines|guest|hosts|vm|cross|release|site|fuzz
set -eu
cd "$(dirname "$0")/.."

say() { printf 'setup: %s\n' "$*" >&2; }

# command or file, and the Debian package that has it
build_needs='/usr/bin/musl-gcc musl-tools
/usr/include/linux/mount.h linux-libc-dev
/usr/bin/gcc gcc
/usr/include/stdio.h libc6-dev
/usr/bin/ar binutils
/usr/share/keyrings/debian-archive-keyring.gpg debian-archive-keyring
/bin/busybox busybox-static
/usr/bin/dpkg-source dpkg-dev
/usr/bin/patch patch
/usr/bin/xz xz-utils'
test_needs="$build_needs
/usr/bin/crun crun
/usr/sbin/runc runc
/usr/bin/strace strace
/usr/bin/valgrind valgrind
/usr/bin/dbus-daemon dbus-daemon
/usr/bin/dbus-send dbus-bin
/bin/ps procps
/usr/sbin/ip iproute2
/usr/lib/cni/bridge containernetworking-plugins
/usr/sbin/iptables iptables
/usr/sbin/nft nftables
/usr/bin/pasta passt
/usr/bin/skopeo skopeo
/usr/bin/umoci umoci
/usr/bin/buildah buildah
/usr/lib/podman/aardvark-dns aardvark-dns
/usr/bin/docker-registry docker-registry
/usr/bin/groff groff-base
/usr/bin/zsh zsh
/usr/bin/fish fish"
engines_needs="$test_needs
/usr/bin/containerd containerd
/usr/bin/podman podman
/usr/bin/conmon conmon
/usr/bin/newuidmap uidmap
/usr/sbin/criu criu
/usr/bin/catatonit catatonit
/usr/sbin/dockerd docker.io"
guest_needs="$test_needs
/usr/bin/qemu-system-x86_64 qemu-system-x86
/usr/sbin/debootstrap debootstrap
/usr/sbin/mke2fs e2fsprogs"
hosts_needs="$build_needs
/usr/sbin/debootstrap debootstrap
/usr/bin/git git"
cross_needs="$build_needs
/usr/bin/aarch64-linux-gnu-gcc gcc-aarch64-linux-gnu
/usr/aarch64-linux-gnu/include/linux/mount.h linux-libc-dev-arm64-cross
/usr/bin/qemu-aarch64-static qemu-user-static"
release_needs="$cross_needs
/usr/bin/dpkg-deb dpkg
/usr/bin/rpmbuild rpm
/usr/bin/git git"
site_needs="$build_needs
/usr/bin/chromium chromium
/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf fonts-dejavu-core"
vm_needs="$build_needs
/usr/bin/qemu-system-x86_64 qemu-system-x86
/usr/lib/qemu/virtiofsd qemu-system-common
/usr/bin/lz4 lz4"
# clang says where its runtime of the fuzzer is, if it is there.
fuzzer="$(clang --print-file-name="libclang_rt.fuzzer-$(uname -m).a" 2>/dev/null || echo libclang_rt.fuzzer)"
fuzz_needs="$build_needs
/usr/bin/clang clang
$fuzzer libclang-rt-dev
/usr/bin/llvm-cov llvm"

missing() { # list of needs
    printf '%s\n' "$1" | while read -r file package; do
        [ -e "$file" ] || command -v "$(basename "$file")" >/dev/null 2>&1 || printf '%s ' "$package"
    done
}

install_packages() { # packages
    say "installing $*"
    export DEBIAN_FRONTEND=noninteractive
    # Without this policy, Debian's packages would start their daemons (invoke-rc.d(8)).
    if [ ! -e /usr/sbin/policy-rc.d ]; then
        printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d
        chmod 755 /usr/sbin/policy-rc.d
        trap 'rm -f /usr/sbin/policy-rc.d' EXIT
    fi
    apt-get install -y -q --no-install-recommends "$@" >&2 || { apt-get update -q >&2 && apt-get install -y -q --no-install-recommends "$@" >&2; }
}

case ${1:-build} in
test) needs=$test_needs ;;
engines) needs=$engines_needs ;;
guest) needs=$guest_needs ;;
hosts) needs=$hosts_needs ;;
vm) needs=$vm_needs ;;
cross) needs=$cross_needs ;;
release) needs=$release_needs ;;
site) needs=$site_needs ;;
fuzz) needs=$fuzz_needs ;;
*) needs=$build_needs ;;
esac

# Asked first: what is missing here the caller has to bring, and until then nothing is installed.
bring_node='README.md says how to get it'
command -v node >/dev/null 2>&1 || { say "node 20 or newer is missing: $bring_node"; exit 1; }
major=$(node -p 'process.versions.node.split(".")[0]') || { say "node does not run: $bring_node"; exit 1; }
[ "$major" -ge 20 ] || { say "node $major is too old, 20 or newer is needed: $bring_node"; exit 1; }
command -v npm >/dev/null 2>&1 || { say "npm is missing: $bring_node"; exit 1; }

packages=$(missing "$needs")
if [ -n "$packages" ]; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
        # shellcheck disable=SC2086
        install_packages $packages || say "apt could not install: $packages"
    fi
    packages=$(missing "$needs")
    if [ -n "$packages" ]; then
        say "missing packages; as root: apt-get install $packages"
        # A test without what it needs is skipped and says so.
        case ${1:-build} in build | cross | release | site | fuzz) exit 1 ;; esac
    fi
fi

# npm writes this file at the end of an installation; it is older than the lock file when that has changed.
if [ ! -e node_modules/.package-lock.json ] || [ package-lock.json -nt node_modules/.package-lock.json ]; then
    say "installing the npm packages of package-lock.json"
    npm ci --no-audit --no-fund >&2
    touch node_modules/.package-lock.json
fi
