# Sourced by the scripts that pack what `make` has built, in the repository. It sets
#
#   release                package.json's version
#   version                the same; between releases (no tag vVERSION on the commit) it sorts before the release and names date and commit
#   commit                 the commit, "unknown" outside of a git checkout
#   machine                whose programs they are, as `uname -m` says it
#   SOURCE_DATE_EPOCH      the time of all files, by default the commit's: the same commit gives the same bytes
#                          (https://reproducible-builds.org/specs/source-date-epoch/)
#   maintainer             DEB_MAINTAINER, who answers for the packages
#   work                   a directory that goes with the script
#
# It needs $architecture (x64 or arm64, by default this machine's) and $built, the tree with bin/ and build/ of that machine's programs.
umask 022
export LC_ALL=C TZ=UTC
case ${architecture:-$(uname -m)} in
x64 | x86_64) architecture=x64 machine=x86_64 ;;
arm64 | aarch64) architecture=arm64 machine=aarch64 ;;
*) echo "packaging: there are no programs for ${architecture:-$(uname -m)}, only for x64 and arm64" >&2; exit 1 ;;
esac
built=${built:-.}

release=$(sed -n 's/^ *"version": *"\([^"]*\)".*/\1/p' package.json | head -n 1)
commit=$(git rev-parse HEAD 2>/dev/null || echo unknown)
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
export SOURCE_DATE_EPOCH
version=$release
if [ "$(git describe --tags --exact-match 2>/dev/null || true)" != "v$release" ]; then
    short=$(git rev-parse --short=8 HEAD 2>/dev/null || true)
    version="$release~$(date -u -d "@$SOURCE_DATE_EPOCH" +git%Y%m%d)${short:+.$short}"
fi
maintainer=${DEB_MAINTAINER:-"runt maintainers <maintainers@runt.invalid>"}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"

# What `make install PREFIX=/usr` puts on a host, below $work/all, in an environment of its own: what the caller's make was told must not change what a
# package has. Where RUNT_STAGED names a directory, it is done once for each machine, and kept there.
stage() {
    staged=${RUNT_STAGED:-$work/staged}/$architecture
    [ -d "$staged" ] || env -u MAKEFLAGS -u MAKEOVERRIDES make -s -o bin/runt -o bin/runt-pause -o bin/runtctl -o dist/executor/index.js install \
        DESTDIR="$staged" PREFIX=/usr BUILT="$built" BUILT_FOR="$architecture" >/dev/null
    cp -a "$staged" "$work/all"
}

# The two packages of what was staged in $work/all below usr: $work/runt, the runtime, and $work/runtd, the daemon of tasks with its client.
split() {
    mv "$work/all" "$work/runt"
    (cd "$work/runt" && find usr ! -type d ! -path 'usr/share/doc/*') |
        grep -E '^usr/(bin/runt(d|ctl)$|lib/|libexec/)|/_?runt(d|ctl)(-task)?(\.[a-z0-9]+)*$' |
        while IFS= read -r file; do
            mkdir -p "$work/runtd/${file%/*}"
            mv "$work/runt/$file" "$work/runtd/$file"
        done
    install -d "$work/runtd/usr/share/doc/runtd/engine"
    mv "$work/runt"/usr/share/doc/runt/runtd.* "$work/runtd/usr/share/doc/runtd"
    install -m 0644 docs/engine.md "$work/runtd/usr/share/doc/runtd"
    install -m 0644 docs/engine/*.md "$work/runtd/usr/share/doc/runtd/engine"
    install -m 0644 README.md docs/switching.md docs/troubleshooting.md "$work/runt/usr/share/doc/runt"
    install -D -m 0644 -t "$work/runt/usr/share/doc/runt/engines" docs/engines/*.md
    find "$work/runt" -depth -type d -empty -delete
    gzip -9n "$work"/runt*/usr/share/man/man*/*
}

# Everything has the same time, and no directory the size or the bits of the file system on which it was made.
settle() { # directory
    find "$1" -type d -exec chmod 0755 {} +
    find "$1" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
}
