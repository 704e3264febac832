import { expect, test } from "vitest";
import { newRecord } from "../model/index.ts";
import { taskSchema } from "../spec/index.ts";
import { Paths } from "./paths.ts";
import { viewOf } from "./view.ts";

const instant = (wallMs: number) => ({ bootId: "b", bootMs: wallMs, wallMs });

test("a container that ended before the daemon learned of its start did not start after its end", () => {
  const spec = taskSchema.parse({ name: "t", containers: [{ name: "c", rootfs: "/r", command: "x" }] });
  const record = newRecord({ id: "g.t.1", group: "g", spec, cgroup: null, at: instant(0) });
  const exit = { code: 0, signal: null, oomKilled: false, unknown: false, endedWallMs: 500 };
  const shown = (change: object) => {
    const { containers } = viewOf({ ...record, containers: record.containers.map((one) => ({ ...one, ...change })) }, new Paths("/state"));
    return [containers[0]!.startedMs, containers[0]!.stoppedMs];
  };
  expect(shown({ known: "STOPPED", startedAt: instant(550), stoppedAt: instant(560), exit })).toEqual([500, 500]);
  expect(shown({ known: "STOPPED", startedAt: instant(450), stoppedAt: instant(560), exit })).toEqual([450, 500]);
  expect(shown({ known: "RUNNING", startedAt: instant(550), stoppedAt: null })).toEqual([550, null]);
});
