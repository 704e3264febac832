/** Handing a v2 cgroup to the user of the container (config-linux, cgroup ownership). */
import { RuntError } from "../../errors/index.ts";
import * as host from "../../host/index.ts";
import { readIfThere } from "./tree.ts";

/** What the kernel thinks safe to hand over, one name a line (Linux 4.15). */
const LIST = "/sys/kernel/cgroup/delegate";
const WITHOUT_LIST = ["cgroup.procs", "cgroup.subtree_control", "cgroup.threads"];
/** chown(2): leave the group as it is. */
const NO_CHANGE = 0xffff_ffff;

/**
 * Give the directory and its delegatable files to a user of the host. Files of the list that this cgroup does not have are fine.
 * Returns a warning when the caller lacks the right to. @throws RuntError cgroup
 */
export function delegateCgroup(directory: string, uid: number, list = LIST): string | undefined {
  const names = readIfThere(list)?.split("\n").filter(Boolean) ?? WITHOUT_LIST;
  for (const path of [directory, ...names.map((name) => `${directory}/${name}`)]) {
    try {
      host.chown(path, uid, NO_CHANGE);
    } catch (error) {
      if (host.isErrno(error, "ENOENT") && path !== directory) continue;
      if (host.isErrno(error, "EPERM")) return `the cgroup ${directory} cannot be given to uid ${uid}: ${host.reason(error)}`;
      throw new RuntError("cgroup", `cannot give ${path} to uid ${uid}: ${host.reason(error)}`, { cause: error });
    }
  }
  return undefined;
}
