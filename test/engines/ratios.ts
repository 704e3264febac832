/**
 * How long the start of a container takes with each runtime under the same engine: rounds in which every runtime has its turn, each
 * round beginning with another one. What counts are ratios; the machine may be busy, and is equally so for all.
 */
import { join } from "node:path";
import type { Engine, EngineDefinition, Place } from "./engine.ts";

/** The first starts fill caches. */
const WARM_UP_ROUNDS = 2;

export interface Ratio {
  readonly engine: string;
  readonly what: string;
  readonly rounds: number;
  /** Milliseconds by runtime. */
  readonly median: Readonly<Record<string, number>>;
  readonly minimum: Readonly<Record<string, number>>;
}

export async function measureStarts(
  place: Place,
  definition: EngineDefinition,
  runtimes: readonly string[],
  peers: readonly string[],
  rounds: number,
  timed: "timedStart" | "timedWhole" = "timedStart",
): Promise<Ratio> {
  const unable = new Set<string>();
  const engines: { readonly name: string; readonly engine: Engine; readonly times: number[] }[] = [];
  try {
    for (const name of runtimes) {
      const shared = definition.knowsAllRuntimes ? engines[0]?.engine : undefined;
      engines.push({ name, engine: shared ?? (await definition.start(place, join(place.directory, "bin", name))), times: [] });
    }
    for (let round = -WARM_UP_ROUNDS; round < rounds; round++) {
      const turns = engines.filter(({ name }) => !unable.has(name));
      const first = (round + WARM_UP_ROUNDS) % turns.length;
      for (const { name, engine, times } of [...turns.slice(first), ...turns.slice(0, first)]) {
        const measure = engine[timed];
        if (measure === undefined) throw new Error(`${definition.name} has no ${timed}`);
        try {
          const time = await measure(`r${process.pid}-${name}-${round + WARM_UP_ROUNDS}`, name);
          if (round >= 0) times.push(time);
        } catch (error) {
          // A peer may be too old for the engine; then it fails at once.
          if (round !== -WARM_UP_ROUNDS || !peers.includes(name)) throw error;
          unable.add(name);
          console.log(`${definition.name}: ${name} cannot: ${error}`);
        }
      }
    }
  } finally {
    for (const engine of new Set(engines.map((one) => one.engine))) {
      await engine.clean("");
      await engine.stop();
    }
  }
  const able = engines.filter(({ name }) => !unable.has(name));
  const by = (value: (times: readonly number[]) => number) => Object.fromEntries(able.map(({ name, times }) => [name, value(times)]));
  const what = (timed === "timedStart" ? definition.timed : definition.whole) ?? "";
  return { engine: definition.name, what, rounds, median: by(median), minimum: by((times) => Math.min(...times)) };
}

export function median(times: readonly number[]): number {
  const sorted = times.toSorted((a, b) => a - b);
  return (sorted[Math.floor((sorted.length - 1) / 2)]! + sorted[Math.ceil((sorted.length - 1) / 2)]!) / 2;
}

/** `judged` against every peer: median, and minimum in brackets. */
export function ratioTable(rows: readonly Ratio[], judged: string, peers: readonly string[]): string {
  const both = (value: (which: "median" | "minimum") => number | undefined, digits: number) =>
    value("median") === undefined ? "cannot" : `${value("median")!.toFixed(digits)} (${value("minimum")!.toFixed(digits)})`;
  const ratio = (row: Ratio, peer: string) => (which: "median" | "minimum") =>
    row[which][peer] === undefined ? undefined : row[which][judged]! / row[which][peer];
  const columns = [
    "engine",
    "timed",
    "rounds",
    ...peers.map((peer) => `${judged} / ${peer}`),
    ...[judged, ...peers].map((name) => `${name} ms`),
  ];
  const lines = rows.map((row) => [
    ...[row.engine, row.what, String(row.rounds)],
    ...peers.map((peer) => both(ratio(row, peer), 2)),
    ...[judged, ...peers].map((name) => both((which) => row[which][name], 0)),
  ]);
  return [columns, columns.map(() => "---"), ...lines].map((cells) => `| ${cells.join(" | ")} |\n`).join("");
}

/** Slower in the median and at best: either alone is the machine's noise. */
export function slower(rows: readonly Ratio[], judged: string): readonly string[] {
  return rows.flatMap(({ engine, median, minimum }) =>
    Object.keys(median)
      .filter((peer) => median[judged]! > median[peer]! && minimum[judged]! > minimum[peer]!)
      .map((peer) => `${engine}: ${judged} is slower than ${peer}`),
  );
}

/** Milliseconds that `body` takes. */
export async function timed(body: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await body();
  return performance.now() - began;
}
