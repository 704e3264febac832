/** Events for people: one line each, under a heading. Sizes in units of 1024, times in seconds. */
import type { ContainerEvent } from "../verbs/index.ts";

type Stats = Extract<ContainerEvent, { readonly type: "stats" }>["stats"];

const COLUMNS = ["MEMORY", "LIMIT", "CPU", "PIDS", "READ", "WRITTEN"] as const;
const WIDTH = 13;

/** The names of the columns. */
export const EVENTS_HEADING = line(COLUMNS);

export function eventLine(event: ContainerEvent): string {
  return event.type === "oom" ? "oom: the kernel has killed for memory\n" : line(cells(event.stats));
}

function cells({ memory, cpu, pids, blkio }: Stats): string[] {
  const bytes = (op: string) =>
    blkio.ioServiceBytes.filter((entry) => entry.op.toLowerCase() === op).reduce((total, { value }) => total + value, 0n);
  return [
    size(memory.usage.usage),
    memory.usage.limit >= HIGHEST_SIZE ? "-" : size(memory.usage.limit),
    seconds(cpu.usage.total),
    pids.limit === 0n ? String(pids.current) : `${pids.current}/${pids.limit}`,
    size(bytes("read")),
    size(bytes("write")),
  ];
}

/** No limit is the highest number on v2, and the highest number of pages on v1. */
const HIGHEST_SIZE = 1n << 62n;
const UNITS = ["KiB", "MiB", "GiB", "TiB", "PiB"] as const;

/** "900 B", "12.3 MiB". */
function size(bytes: bigint): string {
  let value = Number(bytes);
  let unit = "B";
  for (const next of UNITS) {
    if (value < 1024) break;
    value /= 1024;
    unit = next;
  }
  return `${unit === "B" ? value : value.toFixed(1)} ${unit}`;
}

/** Nanoseconds -> "1.250 s". */
function seconds(nanoseconds: bigint): string {
  return `${(Number(nanoseconds / 1_000_000n) / 1000).toFixed(3)} s`;
}

function line(texts: readonly string[]): string {
  return `${texts
    .map((text) => text.padEnd(WIDTH))
    .join("")
    .trimEnd()}\n`;
}
