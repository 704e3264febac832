/** Mounts all v1 hierarchies, or v2 alone, in a mount namespace of one's own, and removes cgroups from them. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { runSync } from "./run-sync.ts";

/**
 * containerd's shim and crun refuse to work when a hierarchy of /proc/self/cgroup is not mounted, and hosts leave some out: a view of
 * /sys/fs/cgroup with those too. crun also refuses v2 with controllers beside v1, and v1 cannot take them from it while v2 has cgroups (EBUSY):
 * `v1Alone` leaves it out. A unified hierarchy stays as it is. `at` is where the view is mounted: that of a root file system for its programs alone.
 */
export function mountHierarchies(directory: string, { v1Alone = false, at = "/sys/fs/cgroup" } = {}): void {
  if (existsSync("/sys/fs/cgroup/cgroup.controllers")) return;
  const missing = active().filter((controllers) => !isMounted(controllers));
  const names = readdirSync("/sys/fs/cgroup");
  const shown = v1Alone ? names.filter((name) => isOfV1(join("/sys/fs/cgroup", name))) : names;
  if (missing.length === 0 && shown.length === names.length) return;
  const view = join(directory, "cgroup");
  mkdirSync(view, { recursive: true });
  runSync("mount", ["-t", "tmpfs", "-o", "mode=755", "cgroup", view]);
  for (const name of shown) {
    mkdirSync(join(view, name));
    runSync("mount", ["--bind", join("/sys/fs/cgroup", name), join(view, name)]);
  }
  for (const controllers of missing) {
    const target = join(view, controllers.replace("name=", ""));
    mkdirSync(target, { recursive: true });
    runSync("mount", ["-t", "cgroup", "-o", controllers.replace(/^name=/, "none,name="), "cgroup", target]);
  }
  runSync("mount", ["--move", view, at]);
}

/**
 * Those of v1 that are mounted here, as /proc/self/cgroup names them: "cpu,cpuacct", "name=systemd". That file lists as well what another process has
 * mounted in a mount namespace of its own.
 */
export function mountedHierarchies(): string[] {
  return active().filter(isMounted);
}

/** cgroup v2 over all else that is there. The controllers stay with the hierarchies of v1 that have them. */
export function mountUnified(): void {
  if (existsSync("/sys/fs/cgroup/cgroup.controllers")) return;
  runSync("umount", ["--recursive", "/sys/fs/cgroup"]);
  runSync("mount", ["-t", "cgroup2", "cgroup2", "/sys/fs/cgroup"]);
}

/** Whether containers can be given limits: on v2 the root has the controllers for them, unless hierarchies of v1 have them. */
export function hasControllers(): boolean {
  const file = "/sys/fs/cgroup/cgroup.controllers";
  return !existsSync(file) || readFileSync(file, "utf8").split(/\s+/).includes("memory");
}

/** Hierarchies of v1 that this kernel has, wherever they are mounted. */
function active(): string[] {
  const lines = readFileSync("/proc/self/cgroup", "utf8").split("\n");
  return [...new Set(lines.map((line) => line.split(":")[1] ?? ""))].filter((controllers) => controllers !== "");
}

/** Or of v2 without controllers. No directory that somebody has left in the tmpfs around the hierarchies. */
function isOfV1(hierarchy: string): boolean {
  const file = join(hierarchy, "cgroup.controllers");
  return existsSync(join(hierarchy, "cgroup.procs")) && !(existsSync(file) && readFileSync(file, "utf8").trim() !== "");
}

function isMounted(controllers: string): boolean {
  const [first = ""] = controllers.split(",");
  return readFileSync("/proc/self/mounts", "utf8")
    .split("\n")
    .some((line) => line.split(" ")[2] === "cgroup" && line.split(" ")[3]?.split(",").includes(first));
}

/** Remove these cgroups and what is below them from every hierarchy. Returns those that still have processes. */
export function removeCgroups(names: readonly string[]): string[] {
  const left: string[] = [];
  // The first is for v2.
  for (const hierarchy of ["", ...readdirSync("/sys/fs/cgroup")]) {
    for (const name of names) remove(join("/sys/fs/cgroup", hierarchy, name), left);
  }
  return left;
}

function remove(path: string, left: string[]): void {
  if (!existsSync(path)) return;
  for (const entry of readdirSync(path, { withFileTypes: true })) if (entry.isDirectory()) remove(join(path, entry.name), left);
  try {
    rmdirSync(path);
  } catch {
    left.push(path);
  }
}
