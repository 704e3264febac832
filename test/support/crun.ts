/**
 * crun refuses to run where cgroup v2 has controllers beside v1, or where a hierarchy of its process is not mounted: it is shown the hierarchies of
 * v1, all of them and nothing else, in a mount namespace of its own.
 */
import { existsSync } from "node:fs";
import { CGROUP_PARENT } from "./leaks.ts";

const CGROUPS = "/sys/fs/cgroup";
/** A directory that every host has. What is mounted there is moved before anything uses it. */
const VIEW = "/tmp";

/**
 * The view is a tmpfs of its own: a directory that one command made in the host's would be there for all others, and its removal would take away
 * what they have mounted on it. So directories there are not shown, only hierarchies. A controller that v2 has is not asked for: v1 cannot have it
 * while a cgroup of v2 does.
 */
const SCRIPT = `mount -t tmpfs -o mode=755 cgroup ${VIEW} || exit
for path in ${CGROUPS}/*; do
  name=$(basename "$path")
  if [ -L "$path" ]; then cp -P "$path" ${VIEW}
  elif [ -e "$path/cgroup.procs" ] && [ -z "$(cat "$path/cgroup.controllers" 2>/dev/null)" ]; then mkdir "${VIEW}/$name" && mount --bind "$path" "${VIEW}/$name" || exit
  fi
done
added=
for names in $(sed -n 's/^[1-9][0-9]*:\\([^:=]*\\):.*/\\1/p' /proc/self/cgroup); do
  [ ! -e "${VIEW}/$names" ] || continue
  mkdir "${VIEW}/$names" && mount -t cgroup -o "$names" cgroup "${VIEW}/$names" && added="$added $names"
done
mount --move ${VIEW} ${CGROUPS} || exit
"$@"
status=$?
for names in $added; do find "${CGROUPS}/$names${CGROUP_PARENT}" -depth -type d -exec rmdir {} \\; 2>/dev/null; done
exit $status`;

/** Any command, where crun runs. crun leaves the parents of the cgroups it has made; where nobody else sees them they are removed. */
export function inViewOfV1(command: readonly string[]): string[] {
  return existsSync(`${CGROUPS}/cgroup.controllers`) ? [...command] : ["unshare", "-m", "sh", "-c", SCRIPT, "sh", ...command];
}

/** Command that runs the peer with these arguments. */
export function peerCommand(peer: string, args: readonly string[]): string[] {
  return peer.endsWith("crun") ? inViewOfV1([peer, ...args]) : [peer, ...args];
}
