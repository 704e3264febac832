/** The machines that run, by what the host knows of them: nothing that a guest has said. */
import { isFrozenToShow } from "../../cgroup/index.ts";
import { printable, RuntError } from "../../errors/index.ts";
import * as host from "../../host/index.ts";
import { deriveStatus, initState, listIds, readRecord, type StateRecord, type Status } from "../../state/index.ts";
import { requestOf } from "../asked/sandbox.ts";
import type { MonitorRequest } from "../request.ts";

export interface MachineProcess {
  readonly pid: number;
  /** The name of its program; of runt its part of the machine, such as `machine-monitor`. */
  readonly name: string;
}

export interface MachineFacts {
  /** Id of the container that has booted it. */
  readonly id: string;
  readonly state: Status;
  /** Those on the host. */
  readonly processes: readonly MachineProcess[];
  /** null, here and below: not known. */
  readonly cpus: number | null;
  readonly memoryMiB: number | null;
  /** Release of the guest's kernel, as the image says it. */
  readonly kernel: string | null;
  /** Seconds since its hypervisor was started. */
  readonly uptime: number | null;
  /** Ids of the containers in it, the one that has booted it first. */
  readonly containers: readonly string[];
}

/** In the order of the ids. `root`: the state root. */
export function machines(root: string): readonly MachineFacts[] {
  const records = listIds(root).flatMap((id) => readIfThere(root, id) ?? []);
  const owners = records.filter(({ machine }) => machine && !machine.joined);
  const running = owners.filter((record) => initState(record) !== undefined);
  const all = running.length === 0 ? new Map<string, readonly MachineProcess[]>() : processesByNamespace();
  return running.map((record) => factsOf(root, record, records, all));
}

function factsOf(
  root: string,
  record: StateRecord,
  records: readonly StateRecord[],
  all: ReadonlyMap<string, readonly MachineProcess[]>,
): MachineFacts {
  const { id, machine, pid, startTime } = record;
  const processes = all.get(namespaceOf(pid) ?? "") ?? [];
  const hypervisor = processes.find(({ name }) => name.startsWith("qemu"));
  const isJoined = (other: StateRecord): boolean =>
    other.machine?.joined?.pid === pid && other.machine.joined.startTime === startTime && initState(other) !== undefined;
  return {
    id,
    state: deriveStatus(root, record, false, undefined, isFrozenToShow),
    processes,
    cpus: requestOf<MonitorRequest>(pid, "machine-monitor")?.cpus ?? null,
    memoryMiB: machine?.memoryMiB ?? null,
    kernel: kernelOf(pid) ?? null,
    uptime: (hypervisor && uptimeOf(hypervisor.pid)) ?? null,
    containers: [id, ...records.filter(isJoined).map((other) => other.id)],
  };
}

/** undefined: it has just been removed, is being made, or cannot be read. */
function readIfThere(root: string, id: string): StateRecord | undefined {
  try {
    return readRecord(root, id);
  } catch (error) {
    if (error instanceof RuntError) return undefined;
    throw error;
  }
}

/** The processes of all pid namespaces. */
function processesByNamespace(): ReadonlyMap<string, readonly MachineProcess[]> {
  const found = new Map<string, MachineProcess[]>();
  for (const name of host.readdir("/proc", true, "0123456789")) {
    const pid = Number(name);
    const namespace = namespaceOf(pid);
    const program = namespace && nameOf(pid);
    if (!program) continue;
    const list = found.get(namespace) ?? [];
    list.push({ pid, name: program });
    found.set(namespace, list);
  }
  for (const list of found.values()) list.sort((one, other) => one.pid - other.pid);
  return found;
}

/** undefined: it has ended. */
function namespaceOf(pid: number): string | undefined {
  return ifThere(() => host.readlink(`/proc/${pid}/ns/pid`));
}

function nameOf(pid: number): string | undefined {
  return ifThere(() => {
    const read = (name: string): string => host.readFile(`/proc/${pid}/${name}`, undefined, true);
    const name = read("comm").trim();
    return printable(name === "runt" ? (read("cmdline").split("\0")[1] ?? name) : name);
  });
}

/** Of `make guest-image`, in the jail of the machine. */
const RELEASE = "/image/release";
const RELEASE_MOST = 256;

function kernelOf(monitor: number): string | undefined {
  return ifThere(() => printable(host.readFile(`/proc/${monitor}/root${RELEASE}`, RELEASE_MOST, true).trim()));
}

/** Clock ticks of /proc in a second (sysconf(3), _SC_CLK_TCK). */
const TICKS = 100;

function uptimeOf(pid: number): number | undefined {
  const start = host.procStat(pid)?.startTime;
  if (start === undefined) return undefined;
  return Math.max(0, Math.trunc(Number(host.readFile("/proc/uptime", undefined, true).split(" ")[0]) - Number(start) / TICKS));
}

function ifThere<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch (error) {
    if (host.isErrno(error, "ENOENT", "ESRCH", "EACCES", "EILSEQ", "EPERM")) return undefined;
    throw error;
  }
}
