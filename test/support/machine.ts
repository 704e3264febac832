/** Lists everything of the machine that a runtime could change: processes, cgroups, mounts, network devices, files, units. Two lists can be compared. Needs root. */
import { readdirSync, readFileSync, readlinkSync, statSync } from "node:fs";
import { join } from "node:path";
import { CGROUPS, isUnified } from "./cgroups.ts";
import { fileTree } from "./snapshot.ts";
import { systemctl, systemdRuns } from "./systemd.ts";

/** One line for each thing. */
export type Machine = readonly string[];

export interface Unwatched {
  /** Others write below these directories during the test. */
  readonly files: readonly string[];
  /** A process is left out when its command line has one of these. */
  readonly commands: readonly string[];
}

const TREES = ["/run", "/etc", "/var/lib"];

export async function seeMachine(unwatched: Unwatched): Promise<Machine> {
  return [
    ...processes(unwatched.commands),
    ...hierarchies().flatMap(cgroups),
    ...lines("/proc/1/mountinfo").map((line) => `mount ${line}`),
    ...lines("/proc/1/net/dev")
      .slice(2)
      .map((line) => `interface ${line.trim().split(":")[0]}`),
    ...TREES.flatMap((tree) => files(tree, unwatched.files)),
    ...(await units()),
  ];
}

/** `-` for lines that are missing or have changed, `+` for new ones. */
export function changes(before: Machine, after: Machine): readonly string[] {
  const [old, now] = [new Set(before), new Set(after)];
  return [
    ...before.filter((line) => !now.has(line)).map((line) => `- ${line}`),
    ...after.filter((line) => !old.has(line)).map((line) => `+ ${line}`),
  ];
}

function lines(path: string): string[] {
  return readFileSync(path, "utf8").split("\n").filter(Boolean);
}

/** Left out: kernel threads, and the processes of the caller. */
function processes(unwatched: readonly string[]): string[] {
  return readdirSync("/proc").flatMap((pid) => {
    if (!/^\d+$/.test(pid)) return [];
    try {
      const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
        .replace(/^.*\) /s, "")
        .split(" ");
      const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim();
      if (command === "" || fields[0] === "Z" || isOwn(Number(pid)) || unwatched.some((word) => command.includes(word))) return [];
      const groups = readFileSync(`/proc/${pid}/cgroup`, "utf8").trim().replaceAll("\n", " ");
      return [`process ${pid} started ${fields[19]} in ${groups}: ${readlinkSync(`/proc/${pid}/exe`)} ${command}`];
    } catch (error) {
      if (["ENOENT", "ESRCH"].includes((error as NodeJS.ErrnoException).code ?? "")) return [];
      throw error;
    }
  });
}

/** This process, and what it has started. */
function isOwn(pid: number): boolean {
  for (let at = pid; at > 1; at = parentOf(at)) if (at === process.pid) return true;
  return false;
}

function parentOf(pid: number): number {
  return Number(
    readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /s, "")
      .split(" ")[1],
  );
}

function hierarchies(): string[] {
  return isUnified ? [CGROUPS] : readdirSync(CGROUPS).map((name) => join(CGROUPS, name));
}

function cgroups(directory: string): string[] {
  const below = readdirSync(directory, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return [`cgroup ${directory} ${statSync(directory).ino}`, ...below.flatMap(({ name }) => cgroups(join(directory, name)))];
}

function files(tree: string, unwatched: readonly string[]): string[] {
  return fileTree(tree).filter((line) => !unwatched.some((path) => line.startsWith(`file ${path}`)));
}

/** Name and state. */
async function units(): Promise<string[]> {
  if (!systemdRuns) return [];
  const text = await systemctl("list-units", "--all", "--plain", "--no-legend");
  return text.split("\n").map((line) => {
    const [name, , active] = line.trim().split(/\s+/);
    return `unit ${name} ${active}`;
  });
}
