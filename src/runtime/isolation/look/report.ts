/** What the kernel counts where this program runs, as numbers by the names of src/shared/metrics: a host asks the guest of a machine for them. */
import { CPU_MODES, type GuestNumbers } from "../../../shared/metrics/index.ts";
import * as host from "../../host/index.ts";
import { guestProcess } from "../places.ts";

export interface KernelFiles {
  /** Texts of the files of these names in /proc. */
  readonly uptime: string;
  readonly loadavg: string;
  readonly stat: string;
  readonly meminfo: string;
  readonly vmstat: string;
  /** /proc/net/dev of the network namespace that has the interfaces; "" without one. */
  readonly interfaces: string;
}

/** In the guest. The interfaces are in the network namespace of the first container. */
export function readReport(): GuestNumbers {
  const read = (path: string): string => host.readFile(path, undefined, true);
  const [uptime, loadavg, stat, meminfo, vmstat] = ["uptime", "loadavg", "stat", "meminfo", "vmstat"].map((name) => read(`/proc/${name}`));
  return reportOf({ uptime: uptime!, loadavg: loadavg!, stat: stat!, meminfo: meminfo!, vmstat: vmstat!, interfaces: readInterfaces() });
}

function readInterfaces(): string {
  try {
    return host.readFile(`${guestProcess()}/net/dev`, undefined, true);
  } catch (error) {
    // The container has ended, or this is no guest.
    if (host.isErrno(error, "ENOENT", "ESRCH", "EINVAL")) return "";
    throw error;
  }
}

/** Clock ticks of /proc in a second (sysconf(3), _SC_CLK_TCK). */
const TICKS = 100;
const KIB = 1024;

/** Pure. */
export function reportOf({ uptime, loadavg, stat, meminfo, vmstat, interfaces }: KernelFiles): GuestNumbers {
  const loads = loadavg.split(" ").map(Number);
  const counted = (text: string, name: string): number => Number(new RegExp(`^${name}:?\\s+(\\d+)`, "m").exec(text)?.[1] ?? Number.NaN);
  const bytes = (name: string): number => counted(meminfo, name) * KIB;
  const times = (/^cpu +(.*)$/m.exec(stat)?.[1] ?? "").split(" ").map((ticks) => Number(ticks) / TICKS);
  const all = {
    uptime_seconds: Number(uptime.split(" ")[0]),
    ...{ "load.1": loads[0]!, "load.5": loads[1]!, "load.15": loads[2]! },
    ...Object.fromEntries(CPU_MODES.map((mode, at) => [`cpu_seconds_total.${mode}`, times[at] ?? Number.NaN])),
    ...{ context_switches_total: counted(stat, "ctxt"), forks_total: counted(stat, "processes") },
    ...{ processes_running: counted(stat, "procs_running"), processes_blocked: counted(stat, "procs_blocked") },
    ...{ memory_total_bytes: bytes("MemTotal"), memory_free_bytes: bytes("MemFree"), memory_available_bytes: bytes("MemAvailable") },
    ...{ memory_cached_bytes: bytes("Cached"), memory_anonymous_bytes: bytes("AnonPages"), memory_shared_bytes: bytes("Shmem") },
    memory_kernel_bytes: bytes("Slab"),
    ...{ page_faults_total: counted(vmstat, "pgfault"), major_page_faults_total: counted(vmstat, "pgmajfault") },
    oom_kills_total: counted(vmstat, "oom_kill"),
    ...interfaceNumbers(interfaces),
  };
  return Object.fromEntries(Object.entries(all).filter(([, number]) => Number.isFinite(number)));
}

/** Places of the numbers of a line of /proc/net/dev, behind the name of the interface. */
const COLUMNS = { network_bytes_total: [0, 8], network_packets_total: [1, 9], network_drops_total: [3, 11] } as const;

function interfaceNumbers(text: string): GuestNumbers {
  const rows = [...text.matchAll(/^ *(\S+): *(\d[\d ]*)$/gm)]
    .filter(([, name]) => name !== "lo")
    .map(([, , numbers]) => numbers!.trim().split(/ +/).map(Number));
  if (rows.length === 0) return {};
  const sum = (column: number): number => rows.reduce((total, row) => total + (row[column] ?? 0), 0);
  return Object.fromEntries(
    Object.entries(COLUMNS).flatMap(([name, [receive, transmit]]) => [
      [`${name}.receive`, sum(receive)],
      [`${name}.transmit`, sum(transmit)],
    ]),
  );
}
