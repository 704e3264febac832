/** Rounds of bench/engine-group.ts: both sides in turns, and who begins changes with each round. */
import { existsSync, mkdirSync, readdirSync, rmSync, watch } from "node:fs";
import { join } from "node:path";
import { MARKS } from "./group-pod.ts";
import type { GroupSide, Peer } from "./group-sides.ts";
import { median } from "./stats.ts";

const LONGEST_MS = 120_000;

interface Times {
  readonly up: number;
  readonly down: number;
}

type Sides = readonly [own: GroupSide, peer: Peer];

/** Empty, and then with a file for each container that has begun. */
export class Shared {
  constructor(readonly directory: string) {
    mkdirSync(directory);
  }

  empty(): void {
    for (const name of readdirSync(this.directory)) rmSync(join(this.directory, name));
  }

  filled(): Promise<void> {
    return new Promise((done, failed) => {
      const timer = setTimeout(() => end(() => failed(new Error(`only ${readdirSync(this.directory).join(", ")} have begun`))), LONGEST_MS);
      const end = (then: () => void) => {
        clearTimeout(timer);
        watcher.close();
        then();
      };
      const look = () => {
        if (MARKS.every((name) => existsSync(join(this.directory, name)))) end(done);
      };
      const watcher = watch(this.directory, look);
      look();
    });
  }
}

export interface Counts {
  readonly cold: number;
  readonly warm: number;
}

/** Prints a table. Nothing of either side is left afterwards, its daemon excepted. */
export async function compareSides(sides: Sides, shared: Shared, counts: Counts): Promise<void> {
  console.log(
    `| milliseconds, median (least) | \`${sides[0].name}\` | \`${sides[1].name}\` | ratio | target |\n| --- | ---: | ---: | ---: | ---: |`,
  );
  await compare("cold", counts.cold, sides, shared, true);
  for (const side of sides) {
    await side.pull();
    await round(side, shared, false);
  }
  await compare("warm", counts.warm, sides, shared, false);
  await compareOne(counts.warm, sides);
  for (const side of sides) await side.forget();
}

async function compare(what: string, count: number, sides: Sides, shared: Shared, isCold: boolean): Promise<void> {
  if (count === 0) return;
  const found = await inTurns(count, sides, (side) => round(side, shared, isCold));
  for (const part of ["up", "down"] as const) {
    const [own, peer] = found.map((times) => times.map((one) => one[part])) as [number[], number[]];
    row(`${part}, ${what}, ${count} rounds`, [own, peer], "<= 0.5");
  }
}

/** `run --rm` of one container that ends at once. */
async function compareOne(count: number, sides: Sides): Promise<void> {
  const found = await inTurns(count, sides, async (side) => {
    const begun = performance.now();
    await side.one();
    return performance.now() - begun;
  });
  row(`one container, \`run --rm\`, ${count} rounds`, found, "<= 1");
}

async function inTurns<T>(count: number, sides: Sides, measure: (side: GroupSide) => Promise<T>): Promise<[T[], T[]]> {
  const found: [T[], T[]] = [[], []];
  for (let at = 0; at < count; at++) for (const index of at % 2 === 0 ? [0, 1] : [1, 0]) found[index]!.push(await measure(sides[index]!));
  return found;
}

async function round(side: GroupSide, shared: Shared, isCold: boolean): Promise<Times> {
  shared.empty();
  const filled = shared.filled();
  const begun = performance.now();
  if (isCold) await side.pull();
  const commanded = side.up();
  await Promise.race([filled, commanded.then(() => filled)]);
  const up = performance.now() - begun;
  await commanded;
  const stopping = performance.now();
  await side.down();
  const down = performance.now() - stopping;
  if (isCold) await side.forget();
  return { up, down };
}

function row(what: string, [own, peer]: readonly [readonly number[], readonly number[]], target: string): void {
  const ms = (samples: readonly number[]) => `${median(samples).toFixed(0)} (${Math.min(...samples).toFixed(0)})`;
  const ratios = own.map((value, at) => value / peer[at]!);
  console.log(`| ${what} | ${ms(own)} | ${ms(peer)} | ${median(ratios).toFixed(2)} | ${target} |`);
}
