/** The text forms of cgroup files. Lines that are not of the form are skipped: a newer kernel may add some. */
import { type BlockIOEntry, type Pressure, type PressureData, UNLIMITED } from "./types.ts";

/** A single number, or "max"; 0 for a file that is not there. */
export function parseNumber(text: string | undefined): bigint {
  const value = text?.trim() ?? "";
  if (value === "max") return UNLIMITED;
  return /^-?\d+$/.test(value) ? BigInt(value) : 0n;
}

/** Lines of the form "key number" (memory.stat, cpu.stat, *.events). */
export function parseKeyed(text: string | undefined): Record<string, bigint> {
  const values: Record<string, bigint> = {};
  for (const line of (text ?? "").split("\n")) {
    const blank = line.indexOf(" ");
    const value = line.slice(blank + 1);
    if (blank > 0 && /^\d+$/.test(value)) values[line.slice(0, blank)] = BigInt(value);
  }
  return values;
}

/** Numbers with blanks between them (cpuacct.usage_percpu). */
export function parseNumbers(text: string | undefined): bigint[] {
  return (text ?? "").split(/\s+/).filter(Boolean).map(parseNumber);
}

/** A list of the kernel's form, "0-2,7". */
export function parseList(text: string | undefined): number[] {
  return (text?.trim() ?? "").split(",").flatMap((part) => {
    const [, first, last = first] = /^(\d+)(?:-(\d+))?$/.exec(part) ?? [];
    return first === undefined ? [] : Array.from({ length: Number(last) - Number(first) + 1 }, (_, index) => Number(first) + index);
  });
}

/** cpuacct.usage_all: a heading, then "cpu user system" a line. */
export function parseCpuModes(text: string | undefined): { readonly user: bigint[]; readonly kernel: bigint[] } {
  const rows = (text ?? "").split("\n").flatMap((line) => {
    const [, user, kernel] = /^\d+ (\d+) (\d+)/.exec(line) ?? [];
    return user === undefined || kernel === undefined ? [] : [{ user: BigInt(user), kernel: BigInt(kernel) }];
  });
  return { user: rows.map(({ user }) => user), kernel: rows.map(({ kernel }) => kernel) };
}

/** blkio.*: "8:0 Read 5", or "8:0 5" where there is one number a device; the totals without a device are left out. */
export function parseBlkio(text: string): BlockIOEntry[] {
  return text.split("\n").flatMap((line) => {
    const [, major, minor, op = "", value] = /^(\d+):(\d+) (?:(\w+) )?(\d+)$/.exec(line) ?? [];
    if (major === undefined || minor === undefined || value === undefined) return [];
    return [{ major: BigInt(major), minor: BigInt(minor), op, value: BigInt(value) }];
  });
}

/** io.stat: "8:0 rbytes=1 wbytes=2 ..."; one entry for each key that is asked for, with the name it is to have. */
export function parseIoStat(text: string | undefined, names: Readonly<Record<string, string>>): BlockIOEntry[] {
  return (text ?? "").split("\n").flatMap((line) => {
    const [device = "", ...pairs] = line.split(" ");
    const [, major, minor] = /^(\d+):(\d+)$/.exec(device) ?? [];
    if (major === undefined || minor === undefined) return [];
    return pairs.flatMap((pair) => {
      const [key = "", value = ""] = pair.split("=");
      const op = names[key];
      return op === undefined || !/^\d+$/.test(value) ? [] : [{ major: BigInt(major), minor: BigInt(minor), op, value: BigInt(value) }];
    });
  });
}

const NO_PRESSURE: PressureData = { avg10: 0, avg60: 0, avg300: 0, total: 0n };

/** *.pressure: "some avg10=0.00 avg60=0.00 avg300=0.00 total=0" and, but for the CPU of old kernels, "full ...". */
export function parsePressure(text: string | undefined): Pressure | undefined {
  if (text === undefined) return undefined;
  const line = (kind: string): PressureData => {
    const [, avg10, avg60, avg300, total] =
      new RegExp(`^${kind} avg10=([\\d.]+) avg60=([\\d.]+) avg300=([\\d.]+) total=(\\d+)`, "m").exec(text) ?? [];
    if (avg10 === undefined || avg60 === undefined || avg300 === undefined || total === undefined) return NO_PRESSURE;
    return { avg10: Number(avg10), avg60: Number(avg60), avg300: Number(avg300), total: BigInt(total) };
  };
  return { some: line("some"), full: line("full") };
}

/** A directory of /sys/kernel/mm/hugepages, "hugepages-2048kB", as the files of cgroups have it: "2MB". */
export function pageSizeName(directory: string): string | undefined {
  const kilobytes = Number(/^hugepages-(\d+)kB$/.exec(directory)?.[1]);
  if (!(kilobytes > 0)) return undefined;
  if (kilobytes >= 1 << 20) return `${kilobytes >> 20}GB`;
  return kilobytes >= 1 << 10 ? `${kilobytes >> 10}MB` : `${kilobytes}KB`;
}
