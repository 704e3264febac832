import { expect, test } from "vitest";
import type { TaskRecord } from "../../model/index.ts";
import type { Named } from "../../plan/index.ts";
import { taskSchema } from "../../spec/index.ts";
import { Peers } from "./peers.ts";
import type { Service } from "./services.ts";

/** How often somebody has looked at the addresses of a task. */
let looks = 0;

function task(name: string, network: object, address: string): TaskRecord {
  const spec = taskSchema.parse({ name, network, containers: [{ name: "c", rootfs: "/r", command: "x" }] });
  const addresses = [`${address}/20`];
  const has = {
    get addresses() {
      looks++;
      return addresses;
    },
  };
  return { id: `g.${name}`, group: "g", name, spec, network: has } as unknown as TaskRecord;
}

function scene() {
  const written: (readonly [string, readonly Named[]])[] = [];
  const failing = new Set<string>();
  const pending = new Set<string>();
  const logged: string[] = [];
  const peers = new Peers({
    write: ({ id }, lines) => {
      if (failing.has(id)) throw new Error("disk full");
      written.push([id, lines]);
    },
    leadTo: ({ id }) => (pending.has(id) ? undefined : "addresses"),
    log: (_, __, facts) => logged.push(String(facts?.["task"])),
  });
  const take = () => written.splice(0).map(([id]) => id);
  return { peers, written, failing, pending, logged, take };
}

const SERVICE: Service = { network: "g.a", names: ["api"], address: "198.18.0.1", parts: [], members: [] };

test("only the files of networks that have changed are written again", () => {
  const { peers, written, take } = scene();
  const [first, second, other] = [
    task("x", { name: "a" }, "10.0.0.1"),
    task("y", { name: "a" }, "10.0.0.2"),
    task("z", { name: "b" }, "10.1.0.1"),
  ];
  peers.refresh([first, second, other], []);
  expect(written).toEqual([
    ["g.x", [{ address: "10.0.0.2", names: ["y"] }]],
    ["g.y", [{ address: "10.0.0.1", names: ["x"] }]],
    ["g.z", []],
  ]);
  take();
  peers.refresh([first, second, other], []);
  expect(take()).toEqual([]);
  const moved = task("y", { name: "a" }, "10.0.0.9");
  peers.refresh([first, moved, other], []);
  expect(take()).toEqual(["g.x", "g.y"]);
  peers.refresh([first, moved, other], [SERVICE]);
  expect(written[0]![1][0]).toEqual({ address: "198.18.0.1", names: ["api"] });
  expect(take()).toEqual(["g.x", "g.y"]);
  // Which parts a service with an address has is no line of the file.
  const part = { id: "g.x", address: "10.0.0.1", said: { names: ["api"], ports: [] } } as unknown as Service["parts"][number];
  peers.refresh([first, moved, other], [{ ...SERVICE, parts: [part] }]);
  expect(take()).toEqual([]);
  peers.refresh([first, other], [SERVICE]);
  expect(take()).toEqual(["g.x"]);
});

test("the newer of two tasks with one name comes first, and the name of a service is that of no task", () => {
  const { peers, written } = scene();
  const replaced = { ...task("web", { name: "a", aliases: ["api"] }, "10.0.0.1"), id: "g.web.1" };
  const newer = { ...task("web", { name: "a" }, "10.0.0.2"), id: "g.web.2" };
  const asking = task("x", { name: "a", links: [{ name: "web", alias: "w" }] }, "10.0.0.3");
  peers.refresh([replaced, newer, asking], [SERVICE]);
  expect(written.find(([id]) => id === "g.x")![1]).toEqual([
    { address: "198.18.0.1", names: ["api"] },
    { address: "10.0.0.2", names: ["web", "w"] },
    { address: "10.0.0.1", names: ["web", "w"] },
  ]);
});

test("what could not be written is written after the next change, and a task without its rules later", () => {
  const { peers, failing, pending, logged, take } = scene();
  const tasks = [task("x", { name: "a" }, "10.0.0.1"), task("y", { name: "a" }, "10.0.0.2")];
  failing.add("g.x");
  pending.add("g.y");
  peers.refresh(tasks, []);
  expect([take(), logged]).toEqual([[], ["g.x"]]);
  failing.clear();
  peers.refresh(tasks, []);
  expect(take()).toEqual(["g.x"]);
  pending.clear();
  peers.ask("g.y");
  peers.ask("g.unknown");
  expect(take()).toEqual(["g.y"]);
});

test("with a thousand tasks a change is as much work as its network is large", async () => {
  const { peers, take } = scene();
  const tasks = Array.from({ length: 1000 }, (_, at) =>
    task(`t${at}`, { name: `n${at % 100}` }, `10.0.${at % 100}.${Math.floor(at / 100) + 1}`),
  );
  peers.refresh(tasks, []);
  for (let count = take().length; count < 1000; count += take().length) await new Promise((resolve) => setImmediate(resolve));
  looks = 0;
  tasks[7] = task("t7", { name: "n7" }, "10.0.7.200");
  peers.refresh(tasks, []);
  // Each task is looked at once, and not once for each other.
  expect(looks).toBe(1000);
  expect(take()).toHaveLength(10);
});

test("very many files are written in parts, and other work goes on", async () => {
  const { peers, take } = scene();
  const tasks = Array.from({ length: 400 }, (_, at) => task(`t${at}`, { name: "all" }, `10.0.${Math.floor(at / 200)}.${(at % 200) + 1}`));
  peers.refresh(tasks, []);
  const done = take();
  expect(done.length).toBeGreaterThan(10);
  expect(done.length).toBeLessThan(40);
  // Changes meanwhile are written with the rest, once.
  for (let change = 0; change < 3; change++) {
    tasks[0] = task("t0", { name: "all" }, `10.0.9.${change + 1}`);
    peers.refresh(tasks, []);
  }
  for (let turn = 0; turn < 40; turn++) {
    done.push(...take());
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(new Set(done).size).toBe(400);
  expect(done.length).toBeLessThan(400 + 4 * 40);
});
