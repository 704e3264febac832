/** Where the time of a start goes under an engine: rounds with each runtime, their segments, and one trace of runt within the engine's. */
import { cpSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import { program } from "../../support/programs.ts";
import type { Engine, EngineDefinition, Place } from "../engine.ts";
import { median } from "../ratios.ts";
import { joined } from "./joined.ts";
import { takeTrace } from "./kernel.ts";
import { type Call, callsOf, type Executed, executed, type Segment, segments, verbOf } from "./segments.ts";

/** The first starts fill caches. */
const WARM_UP_ROUNDS = 2;

type Milliseconds = readonly [median: number, minimum: number];

export interface Timeline {
  readonly engine: string;
  readonly runtime: string;
  readonly what: string;
  readonly rounds: number;
  /** Until what is waited for. */
  readonly ms: Milliseconds;
  /** Verbs in the order of the calls, up to there, and afterwards. */
  readonly calls: readonly string[];
  readonly later: readonly string[];
  readonly segments: readonly { readonly verb: string; readonly ms: Milliseconds; readonly programs: readonly string[] }[];
  /** Of all calls of the runtime up to there together. */
  readonly own: Milliseconds;
}

/** Put test/probe/called.c in the place of the runtimes. */
export function standIn(runtimes: readonly string[]): void {
  for (const path of runtimes) {
    renameSync(path, `${path}.real`);
    cpSync(program("called"), path);
  }
}

interface Round {
  readonly begin: number;
  readonly until: number;
  readonly processes: readonly Executed[];
  readonly calls: readonly Call[];
}

/**
 * In turns, each round beginning with another runtime.
 * @param runtimes absolute paths @param trace file for one more round with runt's own trace, in Chrome's format
 */
export async function measureTimelines(
  place: Place,
  definition: EngineDefinition & { readonly whole: string },
  runtimes: readonly string[],
  rounds: number,
  trace: string | undefined,
): Promise<Timeline[]> {
  const engines: { readonly runtime: string; readonly engine: Engine; readonly measured: Round[] }[] = [];
  try {
    for (const runtime of runtimes) engines.push({ runtime, engine: await definition.start(place, runtime), measured: [] });
    for (let count = 0; count < WARM_UP_ROUNDS + rounds; count++) {
      const first = count % engines.length;
      for (const { runtime, engine, measured } of [...engines.slice(first), ...engines.slice(0, first)]) {
        const one = await round(place, engine, runtime, `t${process.pid}-${basename(runtime)}-${count}`);
        if (count >= WARM_UP_ROUNDS) measured.push(one);
      }
    }
    const own = engines.find(({ runtime }) => basename(runtime) === "runt");
    if (trace !== undefined && own !== undefined) await traceOnce(place, own.engine, own.runtime, trace);
    return engines.map(({ runtime, measured }) => summarized(definition, basename(runtime), measured));
  } finally {
    for (const { engine } of engines) {
      await engine.clean("");
      await engine.stop();
    }
  }
}

async function round(place: Place, engine: Engine, runtime: string, name: string): Promise<Round> {
  if (engine.timedWhole === undefined) throw new Error("this engine cannot be timed");
  rmSync(`${runtime}.calls`, { force: true });
  takeTrace(place.directory);
  const begin = Number(process.hrtime.bigint()) / 1000;
  const until = begin + 1000 * (await engine.timedWhole(name, basename(runtime)));
  const processes = executed(takeTrace(place.directory));
  return { begin, until, processes, calls: callsOf(processes, readFileSync(`${runtime}.calls`, "utf8"), runtime) };
}

async function traceOnce(place: Place, engine: Engine, runtime: string, file: string): Promise<void> {
  writeFileSync(`${runtime}.traced`, "");
  const one = await round(place, engine, runtime, `t${process.pid}-traced`);
  writeFileSync(
    file,
    joined(
      one,
      one.calls.map((call) => traceOf(runtime, call)),
    ),
  );
  rmSync(`${runtime}.traced`);
}

/** As test/probe/called.c names it. */
function traceOf(runtime: string, { at }: Call): string | undefined {
  const file = `${runtime}.trace-${at}`;
  return existsSync(file) ? readFileSync(file, "utf8") : undefined;
}

function summarized({ name, whole }: EngineDefinition & { readonly whole: string }, runtime: string, rounds: readonly Round[]): Timeline {
  const each = rounds.map(({ processes, calls, begin, until }) => segments(processes, calls, begin, until));
  const shape = (one: readonly Segment[]) => one.map(({ verb }) => verb).join();
  const shapes = each.map(shape);
  // What most rounds have done: a call may be made beside another one now and then.
  const usual = shapes.toSorted((a, b) => count(shapes, b) - count(shapes, a))[0];
  const alike = each.filter((one) => shape(one) === usual);
  const [first] = rounds;
  const times = rounds.map(({ begin, until }) => (until - begin) / 1000);
  const verbs = (isLater: boolean) =>
    first!.calls.filter(({ begin }) => begin > first!.until === isLater).map(({ words }) => verbOf(words));
  return {
    engine: name,
    runtime,
    what: whole,
    rounds: rounds.length,
    ms: both(times),
    own: both(each.map((one) => one.reduce((sum, { verb, begin, end }) => sum + (verb === "" ? 0 : (end - begin) / 1000), 0))),
    calls: verbs(false),
    later: verbs(true),
    segments: alike[0]!.map(({ verb, programs }, index) => ({
      verb,
      ms: both(alike.map((one) => (one[index]!.end - one[index]!.begin) / 1000)),
      programs,
    })),
  };
}

const both = (times: readonly number[]): Milliseconds => [median(times), Math.min(...times)];
const count = (all: readonly string[], one: string): number => all.filter((other) => other === one).length;

/** A table for each engine: a line for each segment, a column for each runtime with medians, in brackets minimums. */
export function timelineTable(timelines: readonly Timeline[]): string {
  return [...new Set(timelines.map(({ engine }) => engine))]
    .map((engine) => {
      const own = timelines.filter((one) => one.engine === engine);
      const longest = own.reduce((a, b) => (b.segments.length > a.segments.length ? b : a));
      const number = (ms: Milliseconds | undefined) => (ms === undefined ? "" : `${ms[0].toFixed(1)} (${ms[1].toFixed(1)})`);
      const rows = [
        ["", ...own.map(({ runtime }) => `${runtime} ms`)],
        ["---", ...own.map(() => "---:")],
        ...longest.segments.map(({ verb, programs }, index) => [
          verb === "" ? [...new Set(programs)].join(", ") || "nothing is executed" : `\`${verb}\``,
          ...own.map((one) => number(one.segments[index]?.ms)),
        ]),
        ["all calls of the runtime", ...own.map((one) => number(one.own))],
        [own[0]!.what, ...own.map(({ ms }) => number(ms))],
        ["calls", ...own.map(({ calls, later }) => `${calls.join(", ")}; later ${later.join(", ")}`)],
      ];
      return `${engine}, ${own[0]!.rounds} rounds\n\n${rows.map((cells) => `| ${cells.join(" | ")} |\n`).join("")}`;
    })
    .join("\n");
}
