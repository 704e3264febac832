/** The processes of a container in the guest, by its cgroup. */
import * as host from "../../host/index.ts";

const MOUNT = "/sys/fs/cgroup";

export const cgroupFile = (cgroup: string, name: string): string => `${MOUNT}${cgroup}/${name}`;

export function makeBelow(cgroup: string): void {
  host.mkdir(`${MOUNT}${cgroup}`, 0o755);
}

/** What its processes have left running keeps it until the container is deleted. */
export function removeBelow(cgroup: string): void {
  try {
    host.rmdir(`${MOUNT}${cgroup}`);
  } catch (error) {
    if (!host.isErrno(error, "EBUSY", "ENOENT")) throw error;
  }
}

/** Also those that have the pid namespace of another container, and do not end with the first one. */
export function killAll(cgroup: string): void {
  host.writeFile(cgroupFile(cgroup, "cgroup.kill"), "1", host.O.WRONLY, 0);
}

/** To all but these. */
export function signalAll(cgroup: string, number: number, isLeftOut: (pid: number) => boolean): void {
  for (const pid of processesBelow(`${MOUNT}${cgroup}`)) {
    if (isLeftOut(pid)) continue;
    try {
      host.kill(pid, number);
    } catch (error) {
      // It has just ended.
      if (!host.isErrno(error, "ESRCH")) throw error;
    }
  }
}

function processesBelow(directory: string): number[] {
  const own = host.readFile(`${directory}/cgroup.procs`, undefined, true).split("\n").filter(Boolean).map(Number);
  return [...own, ...host.readdir(directory, true).flatMap((name) => processesBelow(`${directory}/${name}`))];
}
