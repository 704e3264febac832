/** crun refuses to run where a controller of the kernel is not mounted; it is shown a complete v1 tree in a mount namespace of its own. */
import { existsSync, readFileSync } from "node:fs";

const CGROUPS = "/sys/fs/cgroup";
const HUGETLB = `${CGROUPS}/hugetlb`;

/** Command that runs the peer with these arguments. */
export function peerCommand(peer: string, args: readonly string[]): string[] {
  const complete = existsSync(`${CGROUPS}/cgroup.controllers`) || readFileSync("/proc/self/mountinfo", "utf8").includes(` ${HUGETLB} `);
  if (!peer.endsWith("crun") || complete) return [peer, ...args];
  // The directory is made in the host's tmpfs and seen by all: it goes again at once.
  const script = `mkdir -p ${HUGETLB} && mount -t cgroup -o hugetlb cgroup ${HUGETLB} && "$@"; status=$?; umount ${HUGETLB}; rmdir ${HUGETLB}; exit $status`;
  return ["unshare", "-m", "sh", "-c", script, "sh", peer, ...args];
}
