import { expect, test } from "vitest";
import { World } from "../../../test/support/engine/world.ts";
import { taskSchema } from "../spec/index.ts";
import { DEFAULT_QUEUE, newRecord, reason, schedule, type TaskRecord } from "./index.ts";
import { ledgerOf } from "./ledger.ts";

const at = { bootId: "boot-0", bootMs: 0, wallMs: 0 };
const CAPACITY = { cpus: 1, memoryBytes: 1 };
const record = (name: string, fields: object = {}): TaskRecord => {
  const spec = taskSchema.parse({
    name,
    network: { ports: [{ container: 80 }] },
    ...fields,
    containers: [{ name: "c", rootfs: "/r", command: "x" }],
  });
  return newRecord({ id: `g.${name}.1`, group: "g", spec, cgroup: null, at });
};
const actions = ({ pending }: World) =>
  pending.map((one) => ("name" in one ? `${one.type} ${one.name}` : "container" in one ? `${one.type} ${one.container}` : one.type));
const finish = (world: World, what: string, how: "ok" | "failed" = "ok") => world.finish(actions(world).indexOf(what), how);
const stop = (world: World) => world.send({ type: "stop", at: world.now, reason: reason("StoppedByUser", "stop") });

test("E71: no container is started before the network is there, though it is made ready meanwhile; it is given back with the last end, not with the record", () => {
  const world = new World(record("t"), () => {});
  world.send({ type: "admitted", at });
  expect(actions(world)).toEqual(["createResource network", "pull c"]);
  finish(world, "pull c");
  expect(actions(world)).toEqual(["createResource network", "create c"]);
  finish(world, "create c");
  expect(actions(world)).toEqual(["createResource network"]);
  for (const what of ["createResource network", "start c"]) finish(world, what);
  stop(world);
  expect(actions(world)).toEqual(["stop c"]);
  finish(world, "stop c");
  expect([world.record.known, actions(world)]).toEqual(["STOPPED", ["removeResource network"]]);
  finish(world, "removeResource network", "failed");
  expect(actions(world)).toEqual([]);
  world.wait();
  finish(world, "removeResource network");
  expect([world.record.resources[0]!.known, world.isForgotten]).toEqual(["REMOVED", false]);
});

test("E71 E95: what holds the other namespaces starts while the network is made, unless rules are written in that; others wait for both", () => {
  const open = new World(record("t", { namespaces: { pid: "shared" } }), () => {});
  open.send({ type: "admitted", at });
  for (const what of ["pull runtd/pause", "create runtd/pause", "pull c", "create c"]) finish(open, what);
  expect(actions(open)).toEqual(["createResource network", "start runtd/pause"]);
  finish(open, "start runtd/pause");
  expect(actions(open)).toEqual(["createResource network"]);
  finish(open, "createResource network");
  expect(actions(open)).toEqual(["start c"]);
  // A daemon that is killed meanwhile leaves the network to the next one, and what has started to itself.
  for (const hasStarted of [false, true]) {
    const killed = new World(record("t", { namespaces: { pid: "shared" } }), () => {});
    killed.send({ type: "admitted", at });
    for (const what of ["pull runtd/pause", "create runtd/pause"]) finish(killed, what);
    killed.crash((index) => hasStarted && killed.pending[index]!.type === "start");
    const again = hasStarted ? [] : ["start runtd/pause"];
    expect(actions(killed).filter((one) => /network|start/.test(one))).toEqual(["createResource network", ...again]);
  }

  const proxied = { ports: [{ container: 80 }], proxy: { user: 7, ingress: { port: 81, ports: [80] } } };
  const closed = new World(record("t", { namespaces: { pid: "shared" }, network: proxied }), () => {});
  closed.send({ type: "admitted", at });
  for (const what of ["pull runtd/pause", "create runtd/pause"]) finish(closed, what);
  expect(actions(closed)).toEqual(["createResource network", "pull c"]);
  finish(closed, "createResource network");
  expect(actions(closed)).toEqual(["pull c", "start runtd/pause"]);
});

test("E71 E75: what holds the other namespaces is stopped when the network cannot be made", () => {
  const world = new World(record("t", { namespaces: { pid: "shared" } }), () => {});
  world.send({ type: "admitted", at });
  for (const what of ["pull runtd/pause", "create runtd/pause", "start runtd/pause", "pull c"]) finish(world, what);
  finish(world, "createResource network", "failed");
  expect(world.record.desired).toBe("STOPPED");
  finish(world, "create c");
  finish(world, "stop c");
  expect(actions(world)).toContain("stop runtd/pause");
});

test("E71: a network that is begun when its task is stopped is given back when that has ended", () => {
  const world = new World(record("t"), () => {});
  world.send({ type: "admitted", at });
  finish(world, "pull c");
  finish(world, "create c");
  stop(world);
  expect(actions(world)).toEqual(["createResource network", "stop c"]);
  finish(world, "stop c");
  finish(world, "createResource network");
  expect(actions(world)).toEqual(["removeResource network"]);
});

test("E11: ports are those of a task until its network is given back; what is refused by policy says whose they are", () => {
  const world = new World(record("t"), () => {});
  world.send({ type: "admitted", at });
  for (const what of ["pull c", "createResource network", "create c", "start c"]) finish(world, what);
  const refuse = { ...DEFAULT_QUEUE, portTaken: "refuse" } as const;
  expect(schedule([world.record, record("u")], CAPACITY, refuse, at)[0]!.event).toMatchObject({
    type: "refused",
    message: "port: 80/tcp is taken by g.t.1",
  });
  stop(world);
  finish(world, "stop c");
  expect(world.record.admission).toBe("released");
  expect(ledgerOf([world.record], CAPACITY).used.ports).toMatchObject([{ port: "80/tcp" }]);
  // The port is about to be released, so that no task is refused because of it.
  expect(schedule([world.record, record("u")], CAPACITY, refuse, at)[0]!.event).toMatchObject({ type: "waiting" });
  finish(world, "removeResource network");
  expect(schedule([world.record, record("u")], CAPACITY, refuse, at)[0]!.event).toMatchObject({ type: "admitted" });
});

test("E75: what holds the other namespaces is stopped after the network is given back, or could not be", () => {
  for (const how of ["ok", "failed"] as const) {
    const world = new World(record("t", { namespaces: { pid: "shared" } }), () => {});
    world.send({ type: "admitted", at });
    while (world.pending.length > 0) world.finish(0, "ok");
    stop(world);
    // The end of the container is observed before the stop has returned.
    world.exit("c", 143, true);
    expect(actions(world)).toEqual(["stop c"]);
    finish(world, "stop c");
    expect(actions(world)).toEqual(["removeResource network"]);
    finish(world, "removeResource network", how);
    expect(actions(world)).toEqual(["stop runtd/pause"]);
  }
});

test("E75: of a task that is deleted the ended containers are removed while its network is given back, and what holds the other namespaces when it has ended", () => {
  const world = new World(record("t", { namespaces: { pid: "shared" } }), () => {});
  world.send({ type: "admitted", at });
  while (world.pending.length > 0) world.finish(0, "ok");
  stop(world);
  finish(world, "stop c");
  // A task that is only stopped stays to be looked at.
  expect(actions(world)).toEqual(["removeResource network"]);
  world.send({ type: "delete", at: world.now });
  expect(actions(world)).toEqual(["removeResource network", "remove c"]);
  finish(world, "remove c");
  expect(actions(world)).toEqual(["removeResource network"]);
  finish(world, "removeResource network");
  expect(actions(world)).toEqual(["stop runtd/pause"]);
  finish(world, "stop runtd/pause");
  expect(actions(world)).toEqual(["remove runtd/pause"]);
  while (world.pending.length > 0) world.finish(0, "ok");
  expect([world.incarnations.size, world.isForgotten]).toEqual([0, true]);
});

test("after a reboot the network is made anew, or given back", () => {
  for (const start of ["always", "once"]) {
    const world = new World(record("t", { start }), () => {});
    world.send({ type: "admitted", at });
    while (world.pending.length > 0) world.finish(0, "ok");
    world.reboot();
    if (start === "always") world.send({ type: "admitted", at: world.now });
    expect(actions(world)).toContain(start === "always" ? "createResource network" : "removeResource network");
  }
});
