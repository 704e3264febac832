#!/bin/sh
# Build the Debian package of what `make` has built: deb.sh DIRECTORY leaves DIRECTORY/runt_VERSION_ARCHITECTURE.deb and prints its name.
#
# VERSION is package.json's; between releases (no tag vVERSION on the commit) it sorts before the release and names date and commit. Times in
# the package are SOURCE_DATE_EPOCH, by default the commit's, so that the same commit gives the same bytes
# (https://reproducible-builds.org/specs/source-date-epoch/). DEB_MAINTAINER names who answers for the package.
set -eu
cd "$(dirname "$0")/.."
output=$1
umask 022

release=$(sed -n 's/^ *"version": *"\([^"]*\)".*/\1/p' package.json | head -n 1)
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
export SOURCE_DATE_EPOCH
version=$release
if [ "$(git describe --tags --exact-match 2>/dev/null || true)" != "v$release" ]; then
    commit=$(git rev-parse --short=8 HEAD 2>/dev/null || true)
    version="$release~$(date -u -d "@$SOURCE_DATE_EPOCH" +git%Y%m%d)${commit:+.$commit}"
fi
architecture=$(dpkg --print-architecture)
maintainer=${DEB_MAINTAINER:-"runt maintainers <maintainers@runt.invalid>"}

tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
chmod 755 "$tree"
# In an environment of its own: what the caller's make was told must not change what the package has.
env -u MAKEFLAGS -u MAKEOVERRIDES make -s -o bin/runt -o bin/runt-pause -o bin/runtctl -o dist/executor/index.js install PREFIX=/usr DESTDIR="$tree" ZSH_COMPLETIONS=zsh/vendor-completions >/dev/null

documents=$tree/usr/share/doc/runt
install -d "$documents" "$tree/DEBIAN"
# The licence is in copyright, as Debian has it.
rm "$documents/LICENSE"
install -m 0644 README.md "$documents/README.md"
install -m 0644 docs/switching.md docs/troubleshooting.md "$documents"
install -D -m 0644 -t "$documents/engines" docs/engines/*.md
cat >"$documents/copyright" <<EOF
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: runt

Files: *
Copyright: $(date -u -d "@$SOURCE_DATE_EPOCH" +%Y) the authors of runt
License: Apache-2.0
 On Debian systems the text of the Apache License, version 2.0, is in
 /usr/share/common-licenses/Apache-2.0.

Files: usr/bin/runt
Copyright: $(date -u -d "@$SOURCE_DATE_EPOCH" +%Y) the authors of runt; of QuickJS, Fabrice Bellard and Charlie Gordon; of musl, Rich Felker and others;
 of libseccomp, Red Hat, Canonical and others; of commander, TJ Holowaychuk and others; of libgcc, Free Software Foundation
License: Apache-2.0 and Expat and LGPL-2.1 and GPL-3+-with-GCC-exception
Comment:
 The program contains QuickJS, musl, commander (Expat), libseccomp (LGPL-2.1) and libgcc, linked statically: NOTICE, third-party and
 runt.spdx.json beside this file. "make relink-kit" in the source of this package makes an archive that links it anew with another
 version of libseccomp.

Files: usr/bin/runtctl
Copyright: $(date -u -d "@$SOURCE_DATE_EPOCH" +%Y) the authors of runt; of QuickJS, Fabrice Bellard and Charlie Gordon; of musl, Rich Felker and others;
 of commander, TJ Holowaychuk and others; of yaml, Eemeli Aro; of zod, Colin McDonnell; of libgcc, Free Software Foundation
License: Apache-2.0 and Expat and ISC and GPL-3+-with-GCC-exception
Comment:
 The program contains QuickJS, musl, commander, zod (Expat), yaml (ISC) and libgcc, linked statically: NOTICE and third-party beside this file.

Files: usr/libexec/runt/runt-pause
Copyright: $(date -u -d "@$SOURCE_DATE_EPOCH" +%Y) the authors of runt; of musl, Rich Felker and others; of libgcc, Free Software Foundation
License: Apache-2.0 and Expat and GPL-3+-with-GCC-exception

Files: usr/lib/runt/dist/runtd/*
Copyright: $(date -u -d "@$SOURCE_DATE_EPOCH" +%Y) the authors of runt; the authors of each package that LICENSE.txt names
License: Apache-2.0 and Expat and ISC
Comment:
 The files contain parts of packages of npm. LICENSE.txt among them names these and has their licence texts.

Files: usr/lib/runt/node_modules/*
Copyright: the authors of each package, as its licence file says
License: Expat
Comment:
 Packages of npm that runtd runs with, unchanged, each with its licence file.

License: Expat
 Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
 documentation files (the "Software"), to deal in the Software without restriction, including without limitation the
 rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit
 persons to whom the Software is furnished to do so, subject to the following conditions:
 .
 The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
 Software.
 .
 THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
 WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
 COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
 OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.

License: ISC
 Permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby granted,
 provided that the above copyright notice and this permission notice appear in all copies.
 .
 THE SOFTWARE IS PROVIDED "AS IS" AND THE AUTHOR DISCLAIMS ALL WARRANTIES WITH REGARD TO THIS SOFTWARE INCLUDING ALL
 IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS. IN NO EVENT SHALL THE AUTHOR BE LIABLE FOR ANY SPECIAL, DIRECT,
 INDIRECT, OR CONSEQUENTIAL DAMAGES OR ANY DAMAGES WHATSOEVER RESULTING FROM LOSS OF USE, DATA OR PROFITS, WHETHER IN AN
 ACTION OF CONTRACT, NEGLIGENCE OR OTHER TORTIOUS ACTION, ARISING OUT OF OR IN CONNECTION WITH THE USE OR PERFORMANCE OF
 THIS SOFTWARE.

License: LGPL-2.1
 On Debian systems the text of the GNU Lesser General Public License, version 2.1, is in
 /usr/share/common-licenses/LGPL-2.1.

License: GPL-3+-with-GCC-exception
 The GNU General Public License, version 3 or later, with the GCC Runtime Library Exception, version 3.1 (third-party/libgcc.txt). On
 Debian systems the text of the GNU General Public License, version 3, is in /usr/share/common-licenses/GPL-3.
EOF
# The package is native to this repository: one changelog, in Debian's form, that leads to the project's own.
gzip -9n <CHANGELOG.md >"$documents/NEWS.md.gz"
gzip -9n >"$documents/changelog.gz" <<EOF
runt ($version) unstable; urgency=medium

  * What is new is in NEWS.md.
  * Built from commit $(git rev-parse HEAD 2>/dev/null || echo unknown).

 -- $maintainer  $(LC_ALL=C date -u -R -d "@$SOURCE_DATE_EPOCH")
EOF
gzip -9n "$tree"/usr/share/man/man8/*.8 "$tree"/usr/share/man/man1/*.1
# Static on purpose: nothing of the host's is loaded into a program that handles hostile root file systems.
install -d "$tree/usr/share/lintian/overrides"
printf 'runt: statically-linked-binary [%s]\n' usr/bin/runt usr/bin/runtctl usr/libexec/runt/runt-pause >"$tree/usr/share/lintian/overrides/runt"

size=$(du -k -s --apparent-size "$tree/usr" | cut -f 1)
cat >"$tree/DEBIAN/control" <<EOF
Package: runt
Version: $version
Architecture: $architecture
Maintainer: $maintainer
Installed-Size: $size
Section: admin
Priority: optional
Recommends: aardvark-dns
Suggests: criu, nodejs (>= 20), uidmap
Enhances: buildah, containerd, docker.io, podman
Description: OCI container runtime that plans before it acts
 runt turns an OCI bundle (config.json and a root file system) into a running
 container, on behalf of containerd, CRI-O, Podman or Docker, or from a shell.
 It has the command line, the output and the words of runc, so that one line
 of an engine's configuration puts it in the place of runc.
 .
 It compiles the bundle into a plan of typed operations before it acts; "runt
 plan" prints the plan. It is one static program without dependencies.
 .
 runtd and runtctl run tasks: groups of containers with dependencies, health
 checks and restarts. runtd needs Node.js 20 or newer. The service is not
 enabled by itself: "systemctl enable --now runtd". Its containers go on when
 it is stopped, upgraded or removed.
EOF
install -m 0755 packaging/debian/* "$tree/DEBIAN"
(cd "$tree" && find usr -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum >DEBIAN/md5sums)
find "$tree" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +

package=$output/runt_${version}_$architecture.deb
mkdir -p "$output"
dpkg-deb --root-owner-group -Zxz --build "$tree" "$package" >&2
echo "$package"
