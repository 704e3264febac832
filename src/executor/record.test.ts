import { expect, test } from "vitest";
import type { ExitRecord } from "../shared/protocol/index.ts";
import { finalState, runningState } from "./record.ts";

const record: ExitRecord = {
  schema: 1,
  id: "x",
  root: "/r",
  monitor: { pid: 1, startTicks: "1" },
  phase: "exited",
  pid: 7,
  startTicks: "99",
  startedMs: 1000,
  code: 137,
  signal: 9,
  oomKills: 1,
  endedMs: 2000,
};

test("while it runs there is no outcome", () => {
  expect(runningState(record)).toMatchObject({ pid: 7, startTicks: "99", exitCode: null, unknown: false, endedMs: null });
});

test("killed for memory only when the program itself was", () => {
  expect(finalState(record)).toMatchObject({ exitCode: 137, signal: 9, oomKilled: true, oomKills: 1, unknown: false });
  expect(finalState({ ...record, code: 3, signal: null })).toMatchObject({ exitCode: 3, oomKilled: false, oomKills: 1 });
  expect(finalState({ ...record, oomKills: 0 })).toMatchObject({ oomKilled: false });
});

test("an outcome that nobody has seen is unknown, never 0", () => {
  for (const lost of [undefined, { ...record, code: null, signal: null }]) {
    expect(finalState(lost)).toMatchObject({ exitCode: null, unknown: true, error: expect.any(String) });
  }
});
