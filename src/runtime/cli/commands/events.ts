import { RuntError } from "../../errors/index.ts";
import { isolationOf } from "../../isolation/index.ts";
import { readRecord } from "../../state/index.ts";
import { type ContainerEvent, stats, statsJson, streamEvents } from "../../verbs/index.ts";
import { text, type Verb } from "../context.ts";
import { parseDuration } from "../duration.ts";
import { print } from "../output.ts";
import type { FlagValues } from "../parse.ts";

const DEFAULT_INTERVAL = "5s";
/** Shorter than poll(2) can tell apart. */
const SHORTEST_MS = 1;

export const verb: Verb = ({ options, positionals, flags }) => {
  const id = positionals[0]!;
  const interval = intervalOf(text(flags["interval"]) ?? DEFAULT_INTERVAL);
  const report = reporter(id, text(flags["format"]) ?? "json");
  const status = isolationOf(readRecord(options.root, id)).passOn(wordsOf(id, flags));
  if (status !== undefined) return status;
  if (flags["stats"]) report({ type: "stats", stats: stats(options, id) });
  else streamEvents(options, id, interval, report);
  return 0;
};

/** The same call, for the runt in a machine. */
function wordsOf(id: string, flags: FlagValues): string[] {
  const given = ["interval", "format"].flatMap((name) => (typeof flags[name] === "string" ? [`--${name}`, flags[name]] : []));
  return ["events", ...(flags["stats"] ? ["--stats"] : []), ...given, id];
}

/** What prints an event; for a table the heading comes with the first one. */
function reporter(id: string, format: string): (event: ContainerEvent) => void {
  if (format === "json") return (event) => print(`${eventJson(id, event)}\n`);
  if (format !== "table") throw new RuntError("usage", `invalid format option: ${format} (use table or json)`);
  let heading = EVENTS_HEADING;
  return (event) => {
    print(heading + eventLine(event));
    heading = "";
  };
}

function intervalOf(value: string): number {
  const milliseconds = parseDuration(value);
  if (milliseconds === undefined) throw new RuntError("usage", `invalid value ${JSON.stringify(value)} for flag -interval: parse error`);
  if (milliseconds <= 0) throw new RuntError("usage", "duration interval must be greater than 0");
  return Math.max(SHORTEST_MS, milliseconds);
}

/** One line, as runc has it. */
function eventJson(id: string, event: ContainerEvent): string {
  const head = `{"type":${JSON.stringify(event.type)},"id":${JSON.stringify(id)}`;
  return event.type === "oom" ? `${head}}` : `${head},"data":${statsJson(event.stats)}}`;
}

type Stats = Extract<ContainerEvent, { readonly type: "stats" }>["stats"];

const COLUMNS = ["MEMORY", "LIMIT", "CPU", "PIDS", "READ", "WRITTEN"] as const;
const WIDTH = 13;

/** Events for people: one line each, under this heading. Sizes in units of 1024, times in seconds. */
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
