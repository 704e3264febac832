import { expect, test } from "vitest";
import { World } from "../../../test/support/engine/world.ts";
import { taskSchema } from "../spec/index.ts";
import { agentsOf } from "./apply-event.ts";
import { type AgentRecord, changesBetween, DEFAULT_OPTIONS, newRecord, reconcile } from "./index.ts";

const at = { bootId: "boot-0", bootMs: 0, wallMs: 0 };
const AGENT: AgentRecord = { name: "side", known: "RUNNING", pid: 42, restarts: 0, reason: null };

function running(): World {
  const container = { name: "c", rootfs: "/r", command: "x", agents: [{ name: "side", command: ["/side"] }] };
  const spec = taskSchema.parse({ name: "t", containers: [container] });
  const world = new World(newRecord({ id: "g.t.1", group: "g", spec, cgroup: null, at }), () => {});
  world.send({ type: "admitted", at });
  while (world.pending.length > 0) world.finish(0, "ok");
  return world;
}

const of = ({ record }: World) => record.containers[0]!;

test("E58 E66: that an agent runs or does not is told with its pid or its reason, and changes nothing of its container", () => {
  const world = running();
  const before = world.record;
  world.send({ type: "agent", container: "c", generation: 1, agent: AGENT, at });
  expect(changesBetween(before, world.record, 3)).toEqual([
    { type: "agent", container: "c", generation: 1, agent: "side", known: "RUNNING", pid: 42, restarts: 0, reason: null },
  ]);
  const failed = { ...AGENT, known: "STOPPED", pid: null, reason: "there is no /side" } as const;
  const second = world.record;
  world.send({ type: "agent", container: "c", generation: 1, agent: failed, at });
  expect(changesBetween(second, world.record, 3)).toMatchObject([{ type: "agent", known: "STOPPED", reason: "there is no /side" }]);
  expect(of(world)).toMatchObject({ known: "RUNNING", desired: "RUNNING", agents: [failed] });
  expect(world.record.known).toBe("RUNNING");
});

test("E86: what is told of an earlier incarnation is ignored, and none runs in a container that has ended, or for a daemon that is gone", () => {
  const world = running();
  world.send({ type: "agent", container: "c", generation: 7, agent: AGENT, at });
  expect(of(world).agents).toBeUndefined();
  world.send({ type: "agent", container: "c", generation: 1, agent: AGENT, at });
  expect(agentsOf({ ...of(world), known: "STOPPED" })).toMatchObject([{ known: "STOPPED", pid: null, reason: "its container has ended" }]);
  const view = { options: DEFAULT_OPTIONS, peers: [], replaced: [], succeeded: [] };
  const fenced = reconcile(world.record, { type: "fenced", at }, view).record.containers[0]!;
  expect(fenced.agents).toMatchObject([{ name: "side", known: "STOPPED", pid: null, restarts: 0 }]);
});
