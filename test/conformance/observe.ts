/** Reading what the kernel says about a process: the observer is procfs, never the runtime. */
import { readdirSync, readFileSync, readlinkSync, statSync } from "node:fs";

/** One line of mountinfo (proc_pid_mountinfo(5)). */
export interface MountEntry {
  readonly id: number;
  readonly parent: number;
  readonly device: string;
  /** Directory of the filesystem that is mounted. */
  readonly root: string;
  readonly target: string;
  /** Of the mount: rw, nosuid, noatime, ... */
  readonly options: readonly string[];
  /** shared:N, master:N, unbindable */
  readonly tags: readonly string[];
  readonly fstype: string;
  readonly source: string;
  /** Of the superblock: rw, sync, size=..., ... */
  readonly superOptions: readonly string[];
}

const decodeOctal = (text: string) => text.replace(/\\(\d{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));

export function parseMountinfo(text: string): MountEntry[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const words = line.split(" ");
      const dash = words.indexOf("-");
      const [id = "", parent = "", device = "", root = "", target = "", options = ""] = words;
      const [fstype = "", source = "", superOptions = ""] = words.slice(dash + 1);
      return {
        id: Number(id),
        parent: Number(parent),
        device,
        root: decodeOctal(root),
        target: decodeOctal(target),
        options: options.split(","),
        tags: words.slice(6, dash),
        fstype,
        source: decodeOctal(source),
        superOptions: superOptions.split(","),
      };
    });
}

/** The mount on top at this path; throws when there is none. */
export function mountAt(entries: readonly MountEntry[], target: string): MountEntry {
  const found = entries.filter((entry) => entry.target === target).at(-1);
  if (found === undefined) throw new Error(`no mount at ${target}`);
  return found;
}

/** "Key:\tvalue" lines of /proc/PID/status. */
export function parseStatus(text: string): ReadonlyMap<string, string> {
  return new Map(
    text
      .split("\n")
      .filter((line) => line.includes(":"))
      .map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trim()]),
  );
}

/** The link of a namespace: "net:[4026531840]". type: file name below /proc/PID/ns. */
export function namespaceOf(pid: number | "self", type: string): string {
  return readlinkSync(`/proc/${pid}/ns/${type}`);
}

/** "MAJOR:MINOR", as mountinfo has it, of a device number from stat(2): the upper bits of the minor stand above the major (makedev(3)). */
export const deviceName = (dev: bigint): string =>
  `${((dev >> 8n) & 0xfffn) | ((dev >> 32n) & 0xffff_f000n)}:${(dev & 0xffn) | ((dev >> 12n) & 0xfff_ff00n)}`;

/** The children of a process that live now. */
export function childrenOf(pid: number): number[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, "utf8").trim().split(" ").filter(Boolean).map(Number),
  );
}

/** The program of a process, by device and inode of its file; undefined when the process is gone. */
export function executableOf(pid: number): string | undefined {
  try {
    const { dev, ino } = statSync(`/proc/${pid}/exe`);
    return `${dev}:${ino}`;
  } catch {
    return undefined;
  }
}

/** Environment and arguments stand in /proc as strings with a NUL behind each. */
export function stringsOf(pid: number, name: "environ" | "cmdline"): string[] {
  return readFileSync(`/proc/${pid}/${name}`, "utf8").split("\0").slice(0, -1);
}
