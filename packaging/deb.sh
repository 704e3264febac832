#!/bin/sh
# Build the Debian packages of what `make` has built: DIRECTORY/runt_VERSION_ARCHITECTURE.deb, the runtime, and runtd_VERSION_ARCHITECTURE.deb, the
# daemon of tasks with its client. It prints their names. Version, times and maintainer: contents.sh. DEB_COMPRESSION=none is faster.
# Usage: packaging/deb.sh DIRECTORY [x64|arm64 TREE] (TREE has bin/ and build/ of that machine's programs)
set -eu
cd "$(dirname "$0")/.."
output=$1 architecture=${2:-} built=${3:-}
. packaging/contents.sh
case $machine in x86_64) debian=amd64 ;; aarch64) debian=arm64 ;; esac

stage
split
# Debian keeps site-functions for the administrator.
for name in runt runtd; do mv "$work/$name/usr/share/zsh/site-functions" "$work/$name/usr/share/zsh/vendor-completions"; done
# The licence is in copyright, as Debian has it.
rm "$work/runt/usr/share/doc/runt/LICENSE"
# The packages are native to this repository: one changelog, in Debian's form, that leads to the project's own.
gzip -9n <CHANGELOG.md >"$work/runt/usr/share/doc/runt/NEWS.md.gz"
install -m 0755 -D -t "$work/runtd/DEBIAN" packaging/debian/postinst packaging/debian/prerm packaging/debian/postrm

write_package() { # name static-programs < the rest of its control file
    tree=$work/$1
    documents=$tree/usr/share/doc/$1
    install -d "$tree/DEBIAN" "$tree/usr/share/lintian/overrides"
    sed "s/@YEAR@/$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y)/" packaging/debian/copyright >"$documents/copyright"
    gzip -9n >"$documents/changelog.gz" <<EOF
runt ($version) unstable; urgency=medium

  * What is new is in /usr/share/doc/runt/NEWS.md.
  * Built from commit $commit.

 -- $maintainer  $(date -u -R -d "@$SOURCE_DATE_EPOCH")
EOF
    # Static on purpose: nothing of the host's is loaded into a program that handles hostile root file systems.
    for program in $2; do printf '%s: statically-linked-binary [%s]\n' "$1" "$program"; done >"$tree/usr/share/lintian/overrides/$1"
    # As dpkg-gencontrol counts it, which does not depend on the file system here.
    size=$(cd "$tree" && find usr -printf '%y %s\n' | awk '{ kib += $1 == "f" ? int(($2 + 1023) / 1024) : 1 } END { print kib }')
    {
        printf 'Package: %s\nSource: runt\nVersion: %s\nArchitecture: %s\n' "$1" "$version" "$debian"
        printf 'Maintainer: %s\nInstalled-Size: %s\nSection: admin\nPriority: optional\n' "$maintainer" "$size"
        cat
    } >"$tree/DEBIAN/control"
    (cd "$tree" && find usr -type f -print0 | sort -z | xargs -0 md5sum >DEBIAN/md5sums)
    settle "$tree"
    package=$output/$1_${version}_$debian.deb
    mkdir -p "$output"
    # With one thread xz writes the same bytes on every machine.
    DPKG_DEB_THREADS_MAX=1 dpkg-deb --root-owner-group -Z"${DEB_COMPRESSION:-xz}" --build "$tree" "$package" >&2
    echo "$package"
}

write_package runt usr/bin/runt <<EOF
Suggests: criu, runtd, uidmap
Enhances: buildah, containerd, docker.io, podman
Description: OCI container runtime that plans before it acts
 runt turns an OCI bundle (config.json and a root file system) into a running
 container, on behalf of containerd, CRI-O, Podman or Docker, or from a shell.
 It has the command line, the output and the words of runc, so that one line
 of an engine's configuration puts it in the place of runc.
 .
 It compiles the bundle into a plan of typed operations before it acts; "runt
 plan" prints the plan. It is one static program without dependencies.
EOF

# Not in Depends: Debian 12 has no Node.js that is new enough, and one from elsewhere is no package. Without the others tasks of directories run,
# but not those of images (skopeo, umoci), of networks (plugins, nftables, iptables, ip, aardvark-dns), of volumes with a size (mke2fs) and of builds (buildah).
write_package runtd 'usr/bin/runtctl usr/libexec/runt/runt-pause' <<EOF
Depends: runt (= $version)
Recommends: aardvark-dns, containernetworking-plugins, e2fsprogs, iproute2, iptables, nftables, nodejs (>= 20), skopeo, umoci
Suggests: buildah
Breaks: runt (<< $version)
Replaces: runt (<< $version)
Description: daemon that runs tasks of containers with runt
 runtd and runtctl run tasks: groups of containers with dependencies, health
 checks and restarts. They also take Compose files and pods of Kubernetes.
 .
 runtd needs Node.js 20 or newer. The service is not enabled by itself:
 "systemctl enable --now runtd". Its containers go on when it is stopped,
 upgraded or removed.
EOF
