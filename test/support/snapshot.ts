/** Lists everything of the host that a runtime could change, one line for each thing. Nothing has changed if two lists are equal. */
import { createHash } from "node:crypto";
import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";

export interface Watched {
  /** Directories whose whole content counts. */
  readonly trees: readonly string[];
  /** Cgroups are those whose path has this word. */
  readonly cgroups: string;
}

export type Snapshot = ReadonlySet<string>;

const SMALL = 64 << 10;
const CGROUP_ROOT = "/sys/fs/cgroup";

/** Of the namespaces that this process is in. In namespaces of its own it sees nobody else. */
export function takeSnapshot({ trees, cgroups }: Watched): Snapshot {
  return new Set([...processes(), ...mounts(), ...interfaces(), ...cgroupTree(CGROUP_ROOT, cgroups), ...trees.flatMap(fileTree)]);
}

/** `+` for new lines, `-` for missing ones. A process that has ended is no difference. */
export function differences(before: Snapshot, after: Snapshot): string[] {
  const added = [...after].filter((line) => !before.has(line)).map((line) => `+ ${line}`);
  const gone = [...before].filter((line) => !after.has(line) && !line.startsWith("process ")).map((line) => `- ${line}`);
  return [...added, ...gone];
}

function attempt<T>(action: () => T, otherwise: T): T {
  try {
    return action();
  } catch {
    return otherwise;
  }
}

/** Zombies are left out. */
function processes(): string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      const stat = attempt(() => readFileSync(`/proc/${pid}/stat`, "utf8"), "");
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      if (stat === "" || fields[0] === "Z" || fields[0] === "X") return [];
      const command = attempt(() => readFileSync(`/proc/${pid}/cmdline`, "utf8"), "").replaceAll("\0", " ");
      return [`process ${pid} started ${fields[19]} ${command}`];
    });
}

function mounts(): string[] {
  return lines("/proc/self/mountinfo").map((line) => `mount ${line}`);
}

function interfaces(): string[] {
  return lines("/proc/net/dev")
    .slice(2)
    .map((line) => `interface ${line.trim().split(":")[0]}`);
}

function lines(path: string): string[] {
  return readFileSync(path, "utf8").split("\n").filter(Boolean);
}

/** The first levels of each hierarchy, and everything below one that has the word in its name. */
function cgroupTree(root: string, word: string): string[] {
  const below = (path: string): string[] => directories(path).flatMap((name) => [`cgroup ${path}/${name}`, ...below(`${path}/${name}`)]);
  return [root, ...directories(root).map((name) => join(root, name))].flatMap((parent) =>
    directories(parent)
      .filter((name) => name.includes(word))
      .flatMap((name) => [`cgroup ${parent}/${name}`, ...below(`${parent}/${name}`)]),
  );
}

function directories(path: string): string[] {
  const entries = attempt(() => readdirSync(path, { withFileTypes: true }), []);
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
}

/** Type, mode, owner and content of a directory and of everything below it. */
export function fileTree(path: string): string[] {
  const status = attempt(() => lstatSync(path), undefined);
  if (status === undefined) return [];
  const own = `file ${path} ${status.mode.toString(8)} ${status.uid}:${status.gid}`;
  if (status.isSymbolicLink()) return [`${own} -> ${attempt(() => readlinkSync(path), "?")}`];
  if (status.isFile()) return [`${own} ${status.size} ${status.mtimeMs} ${status.nlink} ${digest(path, status.size)}`];
  if (!status.isDirectory()) return [`${own} ${status.rdev}`];
  return [own, ...attempt(() => readdirSync(path), []).flatMap((name) => fileTree(join(path, name)))];
}

/** For a large file, size and time are enough. */
function digest(path: string, size: number): string {
  if (size > SMALL) return "large";
  return attempt(() => createHash("sha1").update(readFileSync(path)).digest("hex").slice(0, 8), "?");
}
