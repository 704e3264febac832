/** Finds what cycles have left by their marks, and counts what the machine holds. */
import { readdirSync, readFileSync, readlinkSync, statSync } from "node:fs";
import { join } from "node:path";
import { CGROUPS, isUnified } from "../support/cgroups.ts";

/** One text for each thing found. */
export interface Traces {
  /** Process ids. */
  readonly processes: readonly string[];
  /** Directories, the outer ones first. */
  readonly cgroups: readonly string[];
  readonly mounts: readonly string[];
  /** Of the state directories, and of places that the runtime may put a temporary file into. */
  readonly files: readonly string[];
  /** Network namespaces that only processes of the cycles are in. */
  readonly networks: readonly string[];
}

export interface Counts {
  readonly processes: number;
  readonly cgroups: number;
  readonly mounts: number;
  readonly networks: number;
  readonly files: number;
}

/** Places where a file without a home may be put. */
const TEMPORARY = ["/tmp", "/run", "/dev/shm", "/var/tmp"];

/** `parent`: the cgroup above all cgroups of the cycles. */
export function traces(directory: string, parent: string): Traces {
  const all = livingProcesses();
  const own = all.filter(({ text }) => text.includes(directory) || text.includes(parent));
  const others = new Set(all.filter((process) => !own.includes(process)).map(({ network }) => network));
  return {
    processes: own.map(({ pid }) => pid),
    cgroups: hierarchies().flatMap((path) => below(path).filter((group) => group.startsWith(path + parent))),
    mounts: mountLines().filter((line) => line.includes(directory)),
    files: stateFiles(directory),
    networks: [...new Set(own.map(({ network }) => network).filter((network) => !others.has(network)))],
  };
}

export function countsOf(): Counts {
  const all = livingProcesses();
  return {
    processes: all.length,
    cgroups: hierarchies().flatMap(below).length,
    mounts: mountLines().length,
    networks: new Set(all.map(({ network }) => network)).size,
    files: TEMPORARY.flatMap(names).length,
  };
}

/** By their ids; what has ended meanwhile is fine. */
export function endProcesses(pids: readonly string[]): void {
  for (const pid of pids) attempt(() => process.kill(Number(pid), "SIGKILL"), undefined);
}

function attempt<T>(action: () => T, otherwise: T): T {
  try {
    return action();
  } catch {
    return otherwise;
  }
}

/** `text`: where a mark of the cycles would show. */
function livingProcesses(): { pid: string; text: string; network: string }[] {
  return names("/proc")
    .filter((pid) => /^\d+$/.test(pid) && Number(pid) !== process.pid)
    .flatMap((pid) => {
      const state = attempt(() => readFileSync(`/proc/${pid}/stat`, "utf8"), "").replace(/^.*\) /s, "")[0];
      if (state === undefined || state === "Z" || state === "X") return [];
      const read = (file: string) => attempt(() => readFileSync(`/proc/${pid}/${file}`, "utf8"), "");
      const link = (file: string) => attempt(() => readlinkSync(`/proc/${pid}/${file}`), "");
      return [{ pid, text: [read("cgroup"), read("cmdline"), link("root"), link("cwd")].join("\n"), network: link("ns/net") }];
    });
}

function hierarchies(): string[] {
  return isUnified ? [CGROUPS] : names(CGROUPS).map((name) => `${CGROUPS}/${name}`);
}

/** Cgroups of the machine's own services, which come and go. */
function below(path: string): string[] {
  return names(path)
    .filter((name) => name !== "process_api" && attempt(() => statSync(`${path}/${name}`).isDirectory(), false))
    .flatMap((name) => [`${path}/${name}`, ...below(`${path}/${name}`)]);
}

function mountLines(): string[] {
  return readFileSync("/proc/self/mountinfo", "utf8").trim().split("\n");
}

/** The caller's pid file may have a temporary one beside it, which the next create takes over. */
function stateFiles(directory: string): string[] {
  const roots = names(directory).map((worker) => join(directory, worker, "root"));
  const found = roots.flatMap((root) => names(root).map((name) => join(root, name)));
  const lost = TEMPORARY.flatMap((place) => names(place).map((name) => join(place, name))).filter((path) => path.includes("runt-init"));
  return [...found, ...lost];
}

function names(path: string): string[] {
  return attempt(() => readdirSync(path), []);
}
