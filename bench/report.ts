/** Everything that one run of the benchmarks has measured, and its tables. */

import { type Ratio, ratioTable } from "../test/engines/ratios.ts";
import type { Floor } from "./floor.ts";
import { describe, type Machine } from "./machine.ts";
import type { Crowd } from "./many.ts";
import type { Outcome } from "./measure.ts";
import type { Sizes } from "./sizes.ts";
import type { Comparison } from "./stats.ts";

export interface Report {
  /** Name of the section in its page (write.ts): crun, crun-churn, runc, crun-sid. */
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
  /** Both runtimes had real-time priority, because others used the machine. */
  readonly realtime?: boolean;
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

export function floorTable({ runs, helper }: Floor): string {
  const both = (times: Comparison, name: "median" | "p95" | "minimum") => `${ms(times.own[name])} / ${ms(times.peer[name])}`;
  return [
    table(
      ["what", "ratio", "of minimums", "median ms, runt / floor", "p95 ms", "minimum ms"],
      runs.map(({ title, times }) => [
        title,
        ms(times.ratio),
        ms(times.minimumRatio),
        both(times, "median"),
        both(times, "p95"),
        both(times, "minimum"),
      ]),
    ),
    "",
    `The floor of the plain \`run\` takes ${ms(helper.ratio)} times \`true\` alone (${ms(helper.peer.median)} ms, minimum ${ms(helper.peer.minimum)}).`,
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

/** Where the figures come from. */
export function origin({ machine, versions, rounds, churn, reread, realtime = false }: Report): string {
  const how = `${churn ? ", with background cgroup churn" : ""}${reread ? ", runt's pages read anew" : ""}${realtime ? ", at real-time priority" : ""}`;
  // Several lines: a page has at most 120 columns.
  return `${versions.join(", ")}.\n${describe(machine).replace("; load ", ";\nload ")}. ${rounds} rounds${how}.`;
}
