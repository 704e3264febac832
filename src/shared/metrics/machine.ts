/**
 * What the kernel of a virtual machine counts. The guest is hostile: it only sends numbers, under names of this table. Names, texts and labels of the
 * metrics are the host's own. Pure.
 */
import type { Sample } from "./exposition.ts";

interface GuestMetric {
  /** Behind `runt_machine_guest_`. */
  readonly name: string;
  readonly type: "counter" | "gauge";
  readonly help: string;
  /** The numbers of the guest that it shows, with the label of each, if there is more than one. */
  readonly numbers: Readonly<Record<string, string>>;
  readonly label?: string;
}

const single = (name: string, type: GuestMetric["type"], help: string): GuestMetric => ({ name, type, help, numbers: { [name]: "" } });

function labelled(name: string, help: string, label: string, values: readonly string[]): GuestMetric {
  const numbers = Object.fromEntries(values.map((value) => [`${name}.${value}`, value]));
  return { name, type: name.endsWith("_total") ? "counter" : "gauge", help, numbers, label };
}

/** Fields of the first line of /proc/stat, in its order. */
export const CPU_MODES = ["user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal"] as const;

const GUEST_METRICS: readonly GuestMetric[] = [
  single("uptime_seconds", "gauge", "Seconds since the guest's kernel has started."),
  labelled("load", "Average number of processes that run or wait for a disk.", "minutes", ["1", "5", "15"]),
  labelled("cpu_seconds_total", "Processor time of all CPUs of the guest.", "mode", CPU_MODES),
  single("context_switches_total", "counter", "Context switches."),
  single("forks_total", "counter", "Processes and threads that were made."),
  single("processes_running", "gauge", "Processes that can run."),
  single("processes_blocked", "gauge", "Processes that wait for a disk."),
  single("memory_total_bytes", "gauge", "Memory that the guest's kernel manages."),
  single("memory_free_bytes", "gauge", "Memory that nothing uses."),
  single("memory_available_bytes", "gauge", "Memory that programs can get without swapping."),
  single("memory_cached_bytes", "gauge", "Page cache."),
  single("memory_anonymous_bytes", "gauge", "Memory of processes."),
  single("memory_shared_bytes", "gauge", "Memory of tmpfs and shared memory."),
  single("memory_kernel_bytes", "gauge", "Slab memory of the guest's kernel."),
  single("page_faults_total", "counter", "Page faults."),
  single("major_page_faults_total", "counter", "Page faults that had to wait for a file."),
  single("oom_kills_total", "counter", "Processes that the guest's kernel has killed for lack of memory."),
  labelled("network_bytes_total", "Bytes on the interfaces of the machine, without the loopback.", "direction", ["receive", "transmit"]),
  labelled("network_packets_total", "Packets on these interfaces.", "direction", ["receive", "transmit"]),
  labelled("network_drops_total", "Packets that were dropped there.", "direction", ["receive", "transmit"]),
];

const PREFIX = "runt_machine_guest_";
const NAMES: ReadonlySet<string> = new Set(GUEST_METRICS.flatMap(({ numbers }) => Object.keys(numbers)));

/** Numbers of a guest by the names of this table. */
export type GuestNumbers = Readonly<Record<string, number>>;

/** What a guest has sent, without everything that is no finite number of at least 0 under a name of the table. undefined: it is no object of JSON. */
export function guestNumbers(text: string): GuestNumbers | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const isCount = ([name, number]: readonly [string, unknown]): boolean =>
    NAMES.has(name) && typeof number === "number" && Number.isFinite(number) && number >= 0;
  return Object.fromEntries(Object.entries(value).filter(isCount)) as GuestNumbers;
}

/** A machine, and what its guest has said; `numbers` undefined: nothing that counts. */
export interface GuestReport {
  readonly labels: Readonly<Record<string, string>>;
  readonly numbers: GuestNumbers | undefined;
}

/** Metrics without a value are left out. */
export function guestSamples(reports: readonly GuestReport[]): Sample[] {
  if (reports.length === 0) return [];
  const up: Sample = {
    name: `${PREFIX}up`,
    type: "gauge",
    help: "1: the guest has said how it does; 0: it has not answered in time, is paused, or has sent something else.",
    values: reports.map(({ labels, numbers }) => ({ labels, value: numbers === undefined ? 0 : 1 })),
  };
  const samples = GUEST_METRICS.map(
    ({ name, type, help, numbers: keys, label }): Sample => ({
      name: PREFIX + name,
      type,
      help,
      values: reports.flatMap(({ labels, numbers = {} }) =>
        Object.entries(keys).flatMap(([key, value]) => {
          const found = numbers[key];
          return found === undefined ? [] : [{ labels: label === undefined ? labels : { ...labels, [label]: value }, value: found }];
        }),
      ),
    }),
  );
  return [up, ...samples.filter(({ values }) => values.length > 0)];
}
