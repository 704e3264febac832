/** crun refuses to run where a controller of the kernel is not mounted; it is shown a complete v1 tree in a mount namespace of its own. */
import { existsSync, readFileSync } from "node:fs";
import { CGROUP_PARENT } from "./leaks.ts";

const CGROUPS = "/sys/fs/cgroup";

/** v1 controllers that are not mounted: hugetlb, and those that somebody else has mounted elsewhere. */
function missing(): string[] {
  if (existsSync(`${CGROUPS}/cgroup.controllers`)) return [];
  const mounts = readFileSync("/proc/self/mountinfo", "utf8");
  const active = [...readFileSync("/proc/self/cgroup", "utf8").matchAll(/^\d+:([^:=]+):/gm)].map(([, names = ""]) => names);
  return [...new Set([...active, "hugetlb"])].filter((names) => !mounts.includes(` ${CGROUPS}/${names} `));
}

/** Command that runs the peer with these arguments. */
export function peerCommand(peer: string, args: readonly string[]): string[] {
  const names = peer.endsWith("crun") ? missing() : [];
  if (names.length === 0) return [peer, ...args];
  // The directories are made in the host's tmpfs, where everybody sees them. They are removed at once.
  const lines = (line: (name: string) => string) => names.map(line).join("; ");
  const mounts = lines((name) => `mkdir -p ${CGROUPS}/${name}; mount -t cgroup -o ${name} cgroup ${CGROUPS}/${name} || exit`);
  // crun leaves the parents of the cgroups it has made, and a hierarchy lives on as long as it has any.
  const unmounts = lines(
    (name) =>
      `find ${CGROUPS}/${name}${CGROUP_PARENT} -depth -type d -exec rmdir {} \\; 2>/dev/null; umount ${CGROUPS}/${name}; rmdir ${CGROUPS}/${name} 2>/dev/null`,
  );
  return ["unshare", "-m", "sh", "-c", `${mounts}; "$@"; status=$?; ${unmounts}; exit $status`, "sh", peer, ...args];
}
