/** Where the host's cgroup hierarchies are, and what is below the tests' parent. */
import { existsSync, readdirSync, readFileSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { parseMountinfo } from "./observe.ts";

/** Parent of every cgroup that is made here. */
export const CGROUP_PARENT = `/runt-conformance-${process.pid}`;

/** Mounts of cgroup hierarchies, of v1 and v2. */
export const hierarchies = () =>
  parseMountinfo(readFileSync("/proc/self/mountinfo", "utf8")).filter(({ fstype }) => /^cgroup2?$/.test(fstype));

/** True: /sys/fs/cgroup is the one unified hierarchy. */
export const isUnified = (): boolean => existsSync("/sys/fs/cgroup/cgroup.controllers");

/** Mount point of the hierarchy with this v1 controller ("memory", "name=systemd"); undefined when it is not mounted. */
export function hierarchyOf(controller: string): string | undefined {
  if (isUnified()) return "/sys/fs/cgroup";
  return hierarchies().find(({ fstype, superOptions }) => fstype === "cgroup" && superOptions.includes(controller))?.target;
}

/** The directory a process is in. */
export function cgroupDirectory(pid: number, controller: string): string {
  const mountpoint = hierarchyOf(controller);
  if (mountpoint === undefined) throw new Error(`no hierarchy with ${controller}`);
  const lines = readFileSync(`/proc/${pid}/cgroup`, "utf8").trim().split("\n");
  const line = isUnified()
    ? lines.find((text) => text.startsWith("0::"))
    : lines.find((text) => text.split(":")[1]?.split(",").includes(controller));
  return mountpoint + (line?.split(":").slice(2).join(":") ?? "");
}

/** Every directory that exists below the parent (or another path), in all hierarchies. */
export function cgroupsBelow(path: string): string[] {
  const walk = (directory: string): string[] =>
    existsSync(directory)
      ? [
          directory,
          ...readdirSync(directory, { withFileTypes: true })
            .filter((entry) => entry.isDirectory())
            .flatMap((entry) => walk(join(directory, entry.name))),
        ]
      : [];
  return hierarchies().flatMap(({ target }) => walk(join(target, path)));
}

/** Remove empty cgroups below a path, the deepest first; what is in use stays. */
export function removeCgroups(path: string): void {
  for (const directory of cgroupsBelow(path).reverse()) {
    try {
      rmdirSync(directory);
    } catch {
      // In use, or gone meanwhile: the leak check tells.
    }
  }
}
