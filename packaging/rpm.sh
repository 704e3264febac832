#!/bin/sh
# Build the same two packages as deb.sh for RPM: DIRECTORY/runt-VERSION-1.MACHINE.rpm and DIRECTORY/runtd-VERSION-1.MACHINE.rpm. It prints their names.
# Usage: packaging/rpm.sh DIRECTORY [x64|arm64 TREE] (TREE has bin/ and build/ of that machine's programs)
set -eu
cd "$(dirname "$0")/.."
output=$(mkdir -p "$1" && cd "$1" && pwd) architecture=${2:-} built=${3:-}
command -v rpmbuild >/dev/null || { echo "rpm: rpmbuild is missing; as root: apt-get install rpm" >&2; exit 1; }
. packaging/contents.sh

stage
split
for name in runt runtd; do settle "$work/$name"; done

# Its own directories, files and links of a package, for %files.
list() { # name
    (cd "$work/$1" && find usr ! -type d -printf '"/%p"\n' && find usr -type d \( -path 'usr/lib/runt*' -o -path 'usr/libexec/runt*' -o -path 'usr/share/doc/*' \) -printf '%%dir "/%p"\n') |
        sort >"$work/$1.files"
}
list runt
list runtd

cat >"$work/runt.spec" <<EOF
Name: runt
Version: $version
Release: 1
Summary: OCI container runtime that plans before it acts
License: Apache-2.0 AND MIT AND LGPL-2.1-only AND GPL-3.0-or-later WITH GCC-exception-3.1
Packager: $maintainer
AutoReqProv: no
Suggests: criu

%description
runt turns an OCI bundle (config.json and a root file system) into a running
container, on behalf of containerd, CRI-O, Podman or Docker, or from a shell.
It has the command line, the output and the words of runc, so that one line
of an engine's configuration puts it in the place of runc. It compiles the
bundle into a plan of typed operations before it acts; "runt plan" prints the
plan. It is one static program without dependencies.

%package -n runtd
Summary: Daemon that runs tasks of containers with runt
License: Apache-2.0 AND MIT AND ISC AND blessing AND GPL-3.0-or-later WITH GCC-exception-3.1
AutoReqProv: no
Requires: runt = $version-1
Recommends: nodejs >= 20
Recommends: aardvark-dns
Recommends: containernetworking-plugins
Recommends: e2fsprogs
Recommends: iproute
Recommends: iptables
Recommends: nftables
Recommends: skopeo
Recommends: umoci
Suggests: buildah

%description -n runtd
runtd and runtctl run tasks: groups of containers with dependencies, health
checks and restarts. They also take Compose files and pods of Kubernetes.
runtd needs Node.js 20 or newer. The service is not enabled by itself:
"systemctl enable --now runtd". Its containers go on when it is stopped,
upgraded or removed.

%install
cp -a "$work/runt/." "$work/runtd/." "%{buildroot}"

%files -f $work/runt.files
%files -n runtd -f $work/runtd.files

%post -n runtd
[ ! -d /run/systemd/system ] || systemctl daemon-reload || :

%preun -n runtd
if [ \$1 -eq 0 ]; then
$(sed -n '/^    state=/,/^    fi/p' packaging/debian/prerm)
    [ ! -d /run/systemd/system ] || systemctl stop runtd.socket runtd.service || :
fi

%postun -n runtd
[ ! -d /run/systemd/system ] || systemctl daemon-reload || :
[ \$1 -eq 0 ] || [ ! -d /run/systemd/system ] || systemctl try-restart runtd.service || :
EOF

# Files stay as they are: nothing is stripped, compressed or checked, least of all by programs of another machine. No home, no time and no host name of the
# builder gets in.
mkdir -p "$work/home" "$work/rpms"
HOME=$work/home rpmbuild --quiet -bb --nodeps --target "$machine-linux" \
    --define "_topdir $work/rpmbuild" --define "_tmppath $work" --define "_dbpath $work/db" --define "_rpmdir $work/rpms" \
    --define "_rpmfilename %%{NAME}-%%{VERSION}-%%{RELEASE}.%%{ARCH}.rpm" --define "_buildhost runt.invalid" \
    --define "use_source_date_epoch_as_buildtime 1" --define "clamp_mtime_to_source_date_epoch 1" --define "debug_package %{nil}" \
    --define "__os_install_post %{nil}" --define "_build_id_links none" --define "_binary_payload w9.gzdio" --define "_docdir_fmt %%{NAME}" \
    "$work/runt.spec" >&2
for name in runt runtd; do
    package=$name-$version-1.$machine.rpm
    mv "$work/rpms/$package" "$output/$package"
    echo "$output/$package"
done
