import { RuntError } from "../../errors/index.ts";
import { isolationOf } from "../../isolation/index.ts";
import { readRecord } from "../../state/index.ts";
import { type ContainerEvent, stats, statsJson, streamEvents } from "../../verbs/index.ts";
import { text, type Verb } from "../context.ts";
import { parseDuration } from "../duration.ts";
import { EVENTS_HEADING, eventLine } from "../events-table.ts";
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
