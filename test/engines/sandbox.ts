/** The private surroundings of the engines: mounts, users and the loopback interface. To be called inside new namespaces only. */
import { execFileSync } from "node:child_process";
import { appendFileSync, chmodSync, chownSync, copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { ROOTLESS_UID } from "./podman.ts";

/** Linux: the shims' sockets, runtimes' default roots, terminals' sockets. None of it is to be found on the host afterwards. */
const PRIVATE = ["/run", "/tmp"];
/** CNI has a directory there that cannot be configured. What is written into it is gone at the end. */
const COVERED = "/var/lib";
const SUBORDINATE_IDS = 65_536;
const FIRST_SUBORDINATE_ID = 200_000;

export function enterSandbox(directory: string): void {
  for (const path of PRIVATE) execFileSync("mount", ["-t", "tmpfs", "-o", "mode=1777", "tmpfs", path]);
  coverWithTmpfs(COVERED);
  privateNull(directory);
  execFileSync("ip", ["link", "set", "lo", "up"]);
  mountHierarchies(directory);
  const etc = join(directory, "etc");
  mkdirSync(etc);
  amend(etc, "passwd", `runt-engines:x:${ROOTLESS_UID}:${ROOTLESS_UID}::${directory}:/bin/sh\n`);
  amend(etc, "group", `runt-engines:x:${ROOTLESS_UID}:\n`);
  for (const file of ["subuid", "subgid"]) amend(etc, file, `runt-engines:${FIRST_SUBORDINATE_ID}:${SUBORDINATE_IDS}\n`);
  const runtime = `/run/user/${ROOTLESS_UID}`;
  mkdirSync(runtime, { recursive: true });
  chownSync(runtime, ROOTLESS_UID, ROOTLESS_UID);
  chmodSync(runtime, 0o700);
}

function coverWithTmpfs(path: string): void {
  const layers = `/run/cover${path.replaceAll("/", "-")}`;
  for (const name of ["upper", "work"]) mkdirSync(join(layers, name), { recursive: true });
  const options = `lowerdir=${path},upperdir=${layers}/upper,workdir=${layers}/work`;
  execFileSync("mount", ["-t", "overlay", "-o", options, "overlay", path]);
}

/** crun gives its standard streams to the container's user, also when they are the host's /dev/null. */
function privateNull(directory: string): void {
  const node = join(directory, "null");
  execFileSync("mknod", ["-m", "666", node, "c", "1", "3"]);
  execFileSync("mount", ["--bind", node, "/dev/null"]);
}

/**
 * containerd's shim and crun refuse to work when a hierarchy of /proc/self/cgroup is not mounted, and hosts leave some out: a view of
 * /sys/fs/cgroup with those too.
 */
export function mountHierarchies(directory: string): void {
  const missing = readFileSync("/proc/self/cgroup", "utf8")
    .split("\n")
    .map((line) => line.split(":")[1] ?? "")
    .filter((controllers) => controllers !== "" && !isMounted(controllers));
  if (missing.length === 0) return;
  const view = join(directory, "cgroup");
  mkdirSync(view, { recursive: true });
  execFileSync("mount", ["-t", "tmpfs", "-o", "mode=755", "cgroup", view]);
  for (const name of readdirSync("/sys/fs/cgroup")) {
    mkdirSync(join(view, name));
    execFileSync("mount", ["--bind", join("/sys/fs/cgroup", name), join(view, name)]);
  }
  for (const controllers of missing) {
    const target = join(view, controllers.replace("name=", ""));
    mkdirSync(target, { recursive: true });
    execFileSync("mount", ["-t", "cgroup", "-o", controllers.replace(/^name=/, "none,name="), "cgroup", target]);
  }
  execFileSync("mount", ["--move", view, "/sys/fs/cgroup"]);
}

function isMounted(controllers: string): boolean {
  const [first = ""] = controllers.split(",");
  return readFileSync("/proc/self/mounts", "utf8")
    .split("\n")
    .some((line) => line.split(" ")[2] === "cgroup" && line.split(" ")[3]?.split(",").includes(first));
}

/** A copy of /etc/NAME with one more line, over the original. */
function amend(etc: string, name: string, line: string): void {
  const copy = join(etc, name);
  copyFileSync(`/etc/${name}`, copy);
  appendFileSync(copy, line);
  execFileSync("mount", ["--bind", copy, `/etc/${name}`]);
}

/** Remove the cgroups named, with what is below them, from every hierarchy. What still has processes stays, and is returned. */
export function removeCgroups(names: readonly string[]): string[] {
  const left: string[] = [];
  for (const hierarchy of readdirSync("/sys/fs/cgroup")) {
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
