import { expect, test } from "vitest";
import type { Op } from "../plan/index.ts";
import { areaSize, type Helper, helperSpans, prepareArea } from "./helper.ts";

const op = (name: string, actor: string, args: object = {}): Op => ({ op: name, actor, phase: "process", from: "", args }) as unknown as Op;
const OPS = [
  op("proc.open", "intermediate"),
  op("process.clone", "intermediate", { flags: 0, cgroup: 0xffff_ffff }),
  op("session.create", "init"),
  op("seccomp.load", "init", { flags: 0, listener: false }),
  op("process.exec", "init", { args: ["true"] }),
];
const SECOND = 1_000_000_000n;

/** As native-bindings/init/trace.c stores: births of the intermediate and init on both clocks, then begin and end of each operation. */
function helperOf(births: readonly bigint[], times: readonly (readonly [bigint, bigint])[]): Helper {
  const plan = { ops: OPS };
  const page = new ArrayBuffer(areaSize(plan));
  prepareArea(page);
  const words = new BigUint64Array(page);
  words.set(births, 0);
  for (const [index, entry] of times.entries()) words.set(entry, 8 + index * 2);
  return { plan, page, intermediate: 10, init: 11 };
}

test("an operation lasts from its begin to its end, intermediate's clone to init's birth", () => {
  const helper = helperOf(
    [1000n, 5000n, 3000n, 7000n],
    [
      [1200n, 1500n],
      [2000n, 3100n],
      [3200n, 3300n],
    ],
  );
  const { spans, instants } = helperSpans(helper, 9);
  expect(spans.map(({ name, thread, begin, end }) => [name, thread, begin, end])).toEqual([
    ["proc.open", 10, 1.2, 1.5],
    ["process.clone", 10, 2, 3],
    ["session.create", 11, 3.2, 3.3],
    ["intermediate", 10, 1, 3],
    ["init", 11, 3, 3.3],
  ]);
  expect(instants.map(({ name, at }) => [name, at])).toEqual([
    ["seccomp.load", 9],
    ["process.exec", 9],
  ]);
});

test("behind a filter there are no times: what was reached is where the filter's own ends", () => {
  const helper = helperOf(
    [1000n, 5000n, 3000n, 7000n],
    [
      [1200n, 1500n],
      [2000n, 3100n],
      [3200n, 3300n],
      [3400n, 1n],
      [1n, 0n],
    ],
  );
  const { spans, instants } = helperSpans(helper, 9);
  expect(spans.slice(3, 5).map(({ name, begin, end }) => [name, begin, end])).toEqual([
    ["seccomp.load", 3.4, 9],
    ["process.exec", 9, 9],
  ]);
  expect(instants).toEqual([]);
});

test("init of another time namespace is put where it was", () => {
  const ahead = 100_000n * SECOND;
  const helper = helperOf(
    [1000n, 5000n, 3000n + ahead, 7000n],
    [
      [1200n, 1500n],
      [2000n, 3100n + ahead],
      [3200n + ahead, 3300n + ahead],
    ],
  );
  const { spans } = helperSpans(helper, 9);
  const of = (name: string) => spans.find((span) => span.name === name)!;
  expect(of("process.clone").end).toBeCloseTo(3, 1);
  expect(of("session.create").begin).toBeCloseTo(3.2, 1);
  expect(of("init").end).toBeCloseTo(3.3, 1);
});

test("a helper that never came to itself has done nothing", () => {
  expect(helperSpans(helperOf([], []), 9)).toEqual({ spans: [], instants: [] });
});
