/** Whose a cgroup is, for `runt gc`: written on the first directory of a container, and lasting longer than its state may. */
import * as host from "../../host/index.ts";

/** Without rights on the host only attributes of users can be written, which cgroup v2 has. */
export const CONTAINER_MARKS = { root: "trusted.runt.container", rootless: "user.runt.container" } as const;

export interface ContainerMark {
  /** State root. */
  readonly root: string;
  readonly id: string;
  /** Directories of the container in other hierarchies that were there before it. */
  readonly kept?: readonly string[];
  /** Name of the systemd unit whose cgroup it is. */
  readonly unit?: string;
}

/** Without the right to mark it (v1, rootless) the directory stays unmarked: its state record still names it. */
export function markContainer(directory: string, mark: ContainerMark): void {
  const value = JSON.stringify(mark);
  if (!trySet(directory, CONTAINER_MARKS.root, value)) trySet(directory, CONTAINER_MARKS.rootless, value);
}

function trySet(directory: string, name: string, value: string): boolean {
  try {
    host.setxattr(directory, name, value);
    return true;
  } catch (error) {
    if (host.isErrno(error, "EPERM", "EOPNOTSUPP", "EACCES")) return false;
    throw error;
  }
}
