import * as host from "../../../host/index.ts";
import { readHierarchies } from "../../hierarchies.ts";

/** Where systemd mounts cgroup2 beside the v1 hierarchies. */
const UNIFIED = "/sys/fs/cgroup/unified";

/**
 * On a hybrid host systemd follows a unit's processes in the cgroup2 hierarchy, which v1 knows nothing of: what a further process of
 * the container has to join there. `path`: of the container in a v1 hierarchy.
 */
export function hybridProcesses(path: string): string[] {
  const mountpoint = readHierarchies().hierarchies.find((hierarchy) => path.startsWith(`${hierarchy.mountpoint}/`))?.mountpoint ?? "";
  const file = `${UNIFIED}${path.slice(mountpoint.length)}/cgroup.procs`;
  return host.access(file, host.ACCESS.WRITE) ? [file] : [];
}
