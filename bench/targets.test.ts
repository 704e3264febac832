import { expect, test } from "vitest";
import type { Report } from "./report.ts";
import { judge } from "./targets.ts";

const summary = { median: 1, p95: 1, minimum: 1 };
const comparison = (ratio: number, minimumRatio: number, rssKib: readonly [number, number] = [1, 2]) => ({
  rounds: 1,
  own: summary,
  peer: summary,
  ratio,
  minimumRatio,
  rssKib,
});
const machine = {
  processors: "",
  memoryGib: 1,
  kernel: "",
  cgroups: "cgroup v1, 12 hierarchies",
  load: 0,
  binaryBytes: 5_000_000,
  commit: "",
  date: "",
};
const report = (more: Partial<Report>): Report => ({
  section: "crun",
  peer: "crun",
  versions: [],
  machine,
  rounds: 1,
  churn: false,
  reread: false,
  timed: [],
  ...more,
});
const holds = (more: Partial<Report>) => Object.fromEntries(judge(report(more)).map(({ target, holds: yes }) => [target, yes]));
const timed = (name: string, outcome: Report["timed"][number]["outcome"]) => ({ timed: [{ name, title: name, outcome }] });

test("median and minimum must both be below the target", () => {
  expect(holds(timed("run", comparison(0.6, 0.6)))["run <= 0.6 x crun"]).toBe(true);
  expect(holds(timed("run", comparison(0.61, 0.5)))["run <= 0.6 x crun"]).toBe(false);
  expect(holds(timed("run", comparison(0.5, 0.61)))["run <= 0.6 x crun"]).toBe(false);
});

const unified = { machine: { ...machine, cgroups: "cgroup v2" } };

test("on cgroup v2 the targets are lower, and a minimum may be a tenth above", () => {
  expect(holds({ ...unified, ...timed("run", comparison(0.5, 0.59)) })["run <= 0.5 x crun"]).toBe(true);
  expect(holds({ ...unified, ...timed("run", comparison(0.5, 0.61)) })["run <= 0.5 x crun"]).toBe(false);
  expect(holds({ ...unified, ...timed("run", comparison(0.51, 0.5)) })["run <= 0.5 x crun"]).toBe(false);
  expect(holds({ ...unified, churn: true, ...timed("run", comparison(0.7, 0.7)) })["run <= 0.7 x crun"]).toBe(true);
  const floor = { runs: [{ title: "`run`", times: comparison(1.3, 1.2) }], helper: comparison(2, 2) };
  expect(holds({ ...unified, floor })["run <= 1.25 x the floor"]).toBe(false);
});

test("where no limit can be set, none is judged", () => {
  const sizes = { waitingKib: { runt: 64 }, smallestLimitKib: {}, calls: { state: { runt: 10, crun: 11 } } };
  expect(Object.keys(holds({ ...unified, sizes }))).not.toContain("starts under 256 KiB");
});

test("peak RSS is compared for everything that has one, and what the peer lacks is left out", () => {
  expect(holds(timed("ps", comparison(9, 9, [3, 2])))["peak RSS of ps <= crun's"]).toBe(false);
  expect(holds(timed("features", { missing: "crun has no features" }))).toEqual({ "binary <= 6 MB": true });
});

test("sizes, crowds and the floor have targets, too", () => {
  const resident = { processes: 1, pssKib: 100, outside: 0 };
  const running = { processes: 0, pssKib: 0, outside: 0 };
  const crowd = { runtime: "runt", firstCreateMs: 1, lastCreateMs: 1.3, running, created: resident, kernelKib: 1 };
  expect(
    holds({
      ...unified,
      sizes: { waitingKib: { runt: 64 }, smallestLimitKib: { runt: 384 }, calls: { state: { runt: 10, crun: 10 } } },
      crowds: [crowd],
      floor: { runs: [{ title: "`run`", times: comparison(1.5, 1.7) }], helper: comparison(2, 2) },
    }),
  ).toEqual({
    "waiting run <= 1024 KiB": true,
    "starts under 256 KiB": false,
    "binary <= 6 MB": true,
    "system calls of state < crun's": false,
    "create of the 500th <= 1.2 x the 1st": false,
    "nothing stays resident outside of a container": true,
    "run <= 1.25 x the floor": false,
  });
});
