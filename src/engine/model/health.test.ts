import { expect, test } from "vitest";
import { World } from "../../../test/support/engine/world.ts";
import { taskSchema } from "../spec/index.ts";
import { newRecord } from "./index.ts";

const at = { bootId: "boot-0", bootMs: 0, wallMs: 0 };

/** A container that runs, whose checks fail from now on. */
function failing(restart: object): World {
  const container = { name: "c", rootfs: "/r", command: "x", healthCheck: { tcp: { port: 1 }, retries: 2, interval: "10s" }, restart };
  const spec = taskSchema.parse({ name: "t", containers: [container] });
  const world = new World(newRecord({ id: "g.t.1", group: "g", spec, cgroup: null, at }), () => {});
  world.send({ type: "admitted", at });
  return world;
}

const of = ({ record }: World) => record.containers[0]!;

/** Until the next deadline, all that is in flight ends: checks badly, everything else well. */
function step(world: World): void {
  while (world.pending.length > 0) world.finish(0, world.pending[0]!.type === "checkHealth" ? "failed" : "ok");
  world.wait();
}

test("E28: what is unhealthy runs on, without a policy and with one that does not say otherwise", () => {
  for (const restart of [{}, { enabled: false, unhealthy: true }]) {
    const world = failing(restart);
    for (let count = 0; count < 6; count++) step(world);
    expect(of(world)).toMatchObject({ known: "RUNNING", generation: 1, health: { status: "UNHEALTHY" } });
  }
});

test("E94: what is unhealthy is stopped and started anew, with the waits of its policy, and as often as that says", () => {
  const world = failing({ unhealthy: true, maximumCount: 2, backoff: { initial: "1s", resetAfter: "1h" } });
  for (let count = 0; count < 20; count++) step(world);
  // With each short run the next wait is longer (shortRuns).
  expect(of(world)).toMatchObject({ known: "RUNNING", generation: 3, restarts: 2, shortRuns: 2, health: { status: "UNHEALTHY" } });
  expect(world.record.known).toBe("RUNNING");
});
