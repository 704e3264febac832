#!/bin/sh
# Give a pool of prepared containers programs that fork without end, fill the disk, eat memory, read the host and reach the network, and show what became of each.
set -eu

. "$(dirname "$0")/demo-common.sh"
need_root

clean_up() { :; }
begin_work

say "A root file system: Debian's busybox."
"$here/make-rootfs.sh" "$work/rootfs" >/dev/null
chmod 711 "$work"

say "A pool of two sandboxes; each runs one program, and never again (docs/library/sandbox.mjs)."
cd "$here/../docs/library"
RUNT_BINARY=$bin/runt TMPDIR=$work node sandbox.mjs "$work/rootfs"
