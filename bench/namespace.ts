/** The private surroundings of every benchmark: mounts and cgroups of its own, so that two of them can run at once. */
import { spawn, spawnSync } from "node:child_process";
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { mountHierarchies, mountUnified, removeCgroups } from "../test/support/hierarchies.ts";

export const REPOSITORY = resolve(import.meta.dirname, "..");

/** Above every process of others, and below the kernel's own that have to run. */
const REALTIME = ["chrt", "--fifo", "5"];

/** Run this program again in a mount namespace of its own (and in `others` of unshare(1)), with `more` arguments, in this tree if there is one. Returns its status. */
export async function inNamespace(
  more: readonly string[],
  tree?: { readonly path: string; readonly work: string },
  realtime = false,
  others: readonly string[] = [],
): Promise<number> {
  const self = [process.execPath, ...process.execArgv, ...process.argv.slice(1), ...more];
  const command = [
    "unshare",
    "--mount",
    ...others,
    "--propagation",
    "private",
    "--",
    ...(tree ? enterTree(tree.path, tree.work) : []),
    ...self,
  ];
  // The tree does not have the host's certificates.
  const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env;
  const [file = "", ...args] = realtime ? [...REALTIME, ...command] : command;
  const child = spawn(file, args, { stdio: "inherit", env });
  // The inner process handles the signal: it cleans up and ends.
  const forward = (signal: NodeJS.Signals) => child.kill(signal);
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, forward);
  return await new Promise((done) => child.on("exit", (status) => done(status ?? 1)));
}

/** Command in front of another one: with this tree as the root file system, and what the benchmark needs of the host below it. */
function enterTree(tree: string, work: string): string[] {
  mkdirSync(join(tree, ".host"), { recursive: true });
  mkdirSync(join(tree, dirname(process.execPath)), { recursive: true });
  closeSync(openSync(join(tree, process.execPath), "a"));
  const script = `set -e
mount --bind "$1" "$1"
mount -t tmpfs -o mode=1777 tmpfs "$1/tmp"
for path in /proc /sys /dev; do mount --rbind "$path" "$1$path"; done
mkdir -p "$1$3" "$1$4"
for path in "$2" "$3" "$4"; do mount --bind "$path" "$1$path"; done
cd "$1"
pivot_root . .host
umount -l /.host
cd "$3"
shift 4
exec "$@"`;
  return ["sh", "-c", script, "sh", resolve(tree), process.execPath, REPOSITORY, work];
}

/**
 * A view of all hierarchies of cgroup v1, as crun demands it. To be called in the namespace.
 * @param unified cgroup v2 alone, whatever the host has
 */
export function prepareHierarchies(work: string, unified = false): void {
  if (unified) mountUnified();
  else mountHierarchies(work, { v1Alone: true });
}

/** Mount points of the hierarchies; for v2 there is one. */
function hierarchies(): string[] {
  const lines = readFileSync("/proc/self/mountinfo", "utf8").split("\n");
  return [...new Set(lines.filter((line) => / - cgroup2? /.test(line)).map((line) => line.split(" ")[4] ?? ""))].filter(existsSync);
}

/** Both runtimes find the parent level in place, so that neither pays for making it. */
export function makeCgroupParents(name: string): void {
  for (const hierarchy of hierarchies()) mkdirSync(join(hierarchy, name), { recursive: true });
}

const ATTEMPTS = 50;
const ATTEMPT_MS = 100;

/** Kill what is left in the cgroups of this name, and remove them. Returns what cannot be removed. */
export async function removeCgroupParents(name: string): Promise<string[]> {
  let left: string[] = [];
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    for (const hierarchy of hierarchies()) killAll(join(hierarchy, name));
    left = existsSync("/sys/fs/cgroup/cgroup.controllers") ? removeUnified(name) : removeCgroups([name]);
    if (left.length === 0) break;
    await sleep(ATTEMPT_MS);
  }
  return left;
}

function removeUnified(name: string): string[] {
  spawnSync("find", [`/sys/fs/cgroup/${name}`, "-depth", "-type", "d", "-exec", "rmdir", "{}", ";"], { stdio: "ignore" });
  return existsSync(`/sys/fs/cgroup/${name}`) ? [`/sys/fs/cgroup/${name}`] : [];
}

function killAll(directory: string): void {
  if (!existsSync(directory)) return;
  for (const pid of readFileSync(join(directory, "cgroup.procs"), "utf8").split("\n").filter(Boolean).map(Number)) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // Gone meanwhile.
    }
  }
  for (const entry of readdirSync(directory, { withFileTypes: true })) if (entry.isDirectory()) killAll(join(directory, entry.name));
}
