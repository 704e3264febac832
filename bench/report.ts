/** Everything that one run of the benchmarks has measured, and its tables. */

import { type Ratio, ratioTable } from "../test/engines/ratios.ts";
import type { Floor } from "./floor.ts";
import { describe, type Machine } from "./machine.ts";
import type { Crowd } from "./many.ts";
import type { Outcome } from "./measure.ts";
import type { Sizes } from "./sizes.ts";

export interface Report {
  /** Name of the section in docs/performance.md: crun, crun-churn, runc, crun-sid. */
  readonly section: string;
  readonly peer: string;
  /** Name of the root file system that it was measured in, where it is not the host's. */
  readonly tree?: string;
  /** On cgroup v2, mounted for the benchmark alone. */
  readonly unified?: boolean;
  readonly versions: readonly string[];
  /** Versions of the further peers in the tables of sizes, crowds and engines. */
  readonly furtherVersions?: readonly string[];
  readonly machine: Machine;
  readonly rounds: number;
  readonly churn: boolean;
  /** runt's pages were read anew (main.ts). */
  readonly reread: boolean;
  readonly timed: readonly Timed[];
  readonly sizes?: Sizes;
  readonly crowds?: readonly Crowd[];
  readonly floor?: Floor;
  readonly engines?: readonly Ratio[];
}

export interface Timed {
  readonly name: string;
  readonly title: string;
  readonly outcome: Outcome;
}

const ms = (value: number) => value.toFixed(2);

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [line(heads), line(heads.map((_, index) => (index === 0 ? "---" : "---:"))), ...rows.map(line)].join("\n");
}

export function timesTable({ peer, timed }: Report): string {
  const heads = ["what", "ratio", "of minimums", `median ms, runt / ${peer}`, "p95 ms", "minimum ms", "peak RSS KiB", "rounds"];
  return table(
    heads,
    timed.map(({ title, outcome }) => {
      if ("missing" in outcome) return [title, outcome.missing, ...heads.slice(2).map(() => "")];
      const { ratio, minimumRatio, own, peer: other, rssKib, rounds } = outcome;
      const both = (name: "median" | "p95" | "minimum") => `${ms(own[name])} / ${ms(other[name])}`;
      const rss = rssKib[0] === 0 ? "" : rssKib.join(" / ");
      return [title, ms(ratio), ms(minimumRatio), both("median"), both("p95"), both("minimum"), rss, String(rounds)];
    }),
  );
}

export function floorTable({ run, helper }: Floor): string {
  const row = (what: string, { median, p95, minimum }: Floor["run"]["own"]) => [what, ms(median), ms(p95), ms(minimum)];
  return [
    table(
      ["what", "median ms", "p95 ms", "minimum ms"],
      [row("`runt run`", run.own), row("the floor", run.peer), row("`true` alone", helper.peer)],
    ),
    "",
    `\`run\` takes ${ms(run.ratio)} times the floor (of the minimums ${ms(run.minimumRatio)}), the floor ${ms(helper.ratio)} times \`true\`.`,
  ].join("\n");
}

export function crowdTable(crowds: readonly Crowd[]): string {
  const resident = ({ processes, outside, pssKib }: Crowd["created"]) =>
    processes === 0 ? "nothing" : `${processes.toFixed(2)} (${outside.toFixed(2)} outside), ${pssKib.toFixed(0)} KiB`;
  const heads = ["runtime", "1st `create` ms", "500th", "500th / 1st", "stays while created", "stays while running", "kernel KiB"];
  return table(
    heads,
    crowds.map(({ runtime, firstCreateMs, lastCreateMs, created, running, kernelKib }) => [
      runtime,
      ms(firstCreateMs),
      ms(lastCreateMs),
      ms(lastCreateMs / firstCreateMs),
      resident(created),
      resident(running),
      kernelKib.toFixed(0),
    ]),
  );
}

export function sizesTable({ waitingKib, smallestLimitKib }: Sizes): string {
  const names = Object.keys(waitingKib);
  const limit = (name: string) => String(smallestLimitKib[name] ?? "none");
  return table(
    ["size", ...names],
    [
      ["resident while a foreground `run` waits, KiB", ...names.map((name) => String(waitingKib[name]))],
      ...(Object.keys(smallestLimitKib).length === 0
        ? []
        : [["smallest memory limit under which `true` starts 5 times of 5, KiB", ...names.map(limit)]]),
    ],
  );
}

/** Counts by verb and runtime. */
export function countsTable(what: string, counts: Readonly<Record<string, Readonly<Record<string, number | undefined>>>>): string {
  const names = [...new Set(Object.values(counts).flatMap((row) => Object.keys(row)))];
  const cell = (value: number | undefined) => (value === undefined ? "none" : value.toLocaleString("en"));
  return table(
    [what, ...names],
    Object.entries(counts).map(([verb, row]) => [verb, ...names.map((name) => cell(row[name]))]),
  );
}

export function enginesTable(starts: readonly Ratio[]): string {
  const peers = Object.keys(starts[0]?.median ?? {}).filter((name) => name !== "runt");
  return ratioTable(starts, "runt", peers).trimEnd();
}

/** Where the figures come from, in one line. */
export function origin({ machine, versions, rounds, churn, reread }: Report): string {
  return `${versions.join(", ")}. ${describe(machine)}. ${rounds} rounds${churn ? ", with background cgroup churn" : ""}${reread ? ", runt's pages read anew" : ""}.`;
}
