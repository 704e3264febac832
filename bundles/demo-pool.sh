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

say "Is anything left?"
[ "$(ls -A "$work")" = rootfs ] || left="$left directory"
# The monitor of a container has the path of its state among its arguments.
for file in /proc/[0-9]*/cmdline; do
    case $(tr '\0' ' ' 2>/dev/null <"$file") in *"$work"*) left="$left process" ;; esac
done
expect_nothing_left "directory of the pool"
