/** The private surroundings of the engines: mounts, users and the loopback interface. To be called inside new namespaces only. */
import { execFileSync } from "node:child_process";
import { appendFileSync, chmodSync, chownSync, copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { mountHierarchies, mountUnified } from "../support/hierarchies.ts";
import { ROOTLESS_UID } from "./podman.ts";

/** Linux: the shims' sockets, runtimes' default roots, terminals' sockets. None of it is to be found on the host afterwards. */
const PRIVATE = ["/run", "/tmp"];
/** CNI has a directory there that cannot be configured. What is written into it is gone at the end. */
const COVERED = "/var/lib";
const SUBORDINATE_IDS = 65_536;
const FIRST_SUBORDINATE_ID = 200_000;

/**
 * @param programs directories whose programs the engines run: they stay where they are, also below what is covered
 * @param unified cgroup v2 alone, whatever the host has
 * @param vmConfig becomes /etc/runt/vm.json: conmon and dockerd's shim give runtimes no environment of the engine's caller
 */
export function enterSandbox(directory: string, programs: readonly string[], unified: boolean, vmConfig?: string): void {
  coverKeeping(programs, directory);
  coverWithTmpfs(COVERED);
  if (vmConfig !== undefined) {
    coverWithTmpfs("/etc");
    mkdirSync("/etc/runt", { recursive: true });
    writeFileSync("/etc/runt/vm.json", vmConfig);
  }
  privateNull(directory);
  execFileSync("ip", ["link", "set", "lo", "up"]);
  if (unified) mountUnified();
  else mountHierarchies(directory);
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

/** PRIVATE are empty afterwards, but for these directories. */
function coverKeeping(directories: readonly string[], scratch: string): void {
  const kept = directories
    .filter((path) => PRIVATE.some((covered) => path.startsWith(`${covered}/`)))
    .map((path, index) => ({ path, holder: join(scratch, `kept-${index}`) }));
  for (const { path, holder } of kept) {
    mkdirSync(holder);
    execFileSync("mount", ["--bind", path, holder]);
  }
  for (const path of PRIVATE) execFileSync("mount", ["-t", "tmpfs", "-o", "mode=1777", "tmpfs", path]);
  for (const { path, holder } of kept) {
    mkdirSync(path, { recursive: true });
    execFileSync("mount", ["--move", holder, path]);
  }
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

/** A copy of /etc/NAME with one more line, over the original. */
function amend(etc: string, name: string, line: string): void {
  const copy = join(etc, name);
  copyFileSync(`/etc/${name}`, copy);
  appendFileSync(copy, line);
  execFileSync("mount", ["--bind", copy, `/etc/${name}`]);
}
