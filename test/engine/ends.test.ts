/** From a start to an end: how each is recorded once, told once and kept, whatever the daemon and the records of the container go through meanwhile. */
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { NodeView, TaskView } from "../../src/engine/index.ts";
import { Store } from "../../src/engine/store/index.ts";
import { taskCgroups } from "./daemon-cgroups.ts";
import { DAMAGES } from "./damage.ts";
import { eventsOf, http, identityOf, isRoot, LONGEST_MS, until, useEngine } from "./support.ts";
import { type ContainerText, SLEEP, taskText } from "./tasks.ts";

describe.skipIf(!isRoot)("from start to end (needs root)", () => {
  const scene = useEngine();
  const executors = join(scene.stateDir, "executors");
  const node = async (): Promise<NodeView> => JSON.parse((await http(scene.socket, "GET", "/v1/node")).text);
  const get = async (name: string): Promise<TaskView> => JSON.parse((await http(scene.socket, "GET", `/v1/tasks/${name}`)).text);
  const reaches = (name: string, known: string) => until(async () => (await get(name)).known === known);
  const text = (name: string, containers: readonly ContainerText[], fields = {}) => taskText(scene.rootfs(), name, containers, fields);
  const apply = async (...texts: string[]) =>
    expect((await http(scene.socket, "POST", "/v1/apply", { text: texts.join("\n---\n") })).text).toContain("created");
  const told = async (type: string, task: string) =>
    (await eventsOf(scene.socket, 0))
      .map(({ data }) => data)
      .filter((data) => data["type"] === type && String(data["task"]).includes(`.${task}.`));
  const processes = (name: string) =>
    scene
      .list()
      .filter(({ id, status }) => id.startsWith(`default.${name}.`) && status === "running")
      .map(({ id, pid }) => `${id} ${identityOf(pid)}`);
  const remove = async (...names: string[]) => expect(await scene.ctl("delete", ...names)).toMatchObject({ status: 0 });
  /** Of the one container of a task, now or when it ran last. */
  const idOf = (name: string) => readdirSync(executors).find((id) => id.startsWith(`default.${name}.`))!;

  test("E20 E47 a container that was made just before the daemon was killed is found by its recorded name and adopted: it starts once", async () => {
    const shared = mkdtempSync(join(scene.directory, "shared-"));
    const container = {
      name: "a",
      script: `echo + >> /shared/lines; ${SLEEP}`,
      fields: { mounts: [{ source: shared, target: "/shared" }] },
    };
    const first = await scene.daemon({ fault: "after-effect start 1" });
    await http(scene.socket, "POST", "/v1/apply", { text: text("t", [container]) }).catch(() => {});
    await first.ended;
    await until(() => existsSync(join(shared, "lines")));
    const before = processes("t");
    expect(before).toHaveLength(1);
    await scene.daemon();
    await reaches("t", "RUNNING");
    expect(processes("t")).toEqual(before);
    expect(readFileSync(join(shared, "lines"), "utf8")).toBe("+\n");
    await remove("t");
  });

  test(
    "E22 E24 a container that ended without a daemon keeps its exit code and reason; with a missing or damaged record the code is unknown, never 0; a recorded end does not change",
    async () => {
      const shared = mkdtempSync(join(scene.directory, "shared-"));
      const mounts = [{ source: shared, target: "/shared" }];
      const wait = "until [ -e /shared/end ]; do sleep 0.05; done";
      const eat = `${wait}; x=$(head -c 41943040 /dev/zero | tr '\\0' x); sleep 1000`;
      const [first, names] = [await scene.daemon(), ["gone", "garbage", "link"]];
      await apply(
        text("seen", [{ name: "a", script: "exit 7" }]),
        text("memory", [{ name: "a", script: eat, fields: { memory: "16Mi", mounts } }]),
        ...names.map((name) => text(name, [{ name: "a", script: `${wait}; exit 0`, fields: { mounts } }])),
      );
      await reaches("seen", "STOPPED");
      for (const name of ["memory", ...names]) await reaches(name, "RUNNING");
      const seen = (await get("seen")).containers[0]!;
      const ids = new Map([...names, "seen"].map((name) => [name, idOf(name)]));
      await first.kill();
      writeFileSync(join(shared, "end"), "");
      await until(() => scene.list().every(({ status }) => status === "stopped"));
      await until(() => [...ids.values()].every((id) => /"ended/.test(readFileSync(join(executors, id, "record.json"), "utf8"))));
      DAMAGES["gone"]!(join(executors, ids.get("gone")!));
      DAMAGES["garbage"]!(join(executors, ids.get("garbage")!, "record.json"));
      DAMAGES["a link"]!(join(executors, ids.get("link")!, "record.json"));
      // It says something else now.
      const record = join(executors, ids.get("seen")!, "record.json");
      writeFileSync(record, readFileSync(record, "utf8").replaceAll(/"exitCode":\s*7/g, '"exitCode":9'));
      const second = await scene.daemon();
      for (const name of ["memory", ...names]) await reaches(name, "STOPPED");
      const memory = await get("memory");
      expect(memory.containers[0]!.exit).toMatchObject({ code: 137, signal: 9, oomKilled: true, unknown: false });
      expect(memory.reason).toContain("the kernel killed it for memory");
      for (const name of names) expect([name, (await get(name)).containers[0]!.exit]).toMatchObject([name, { code: null, unknown: true }]);
      expect((await get("seen")).containers[0]).toEqual(seen);
      await second.kill();
      rmSync(join(executors, ids.get("seen")!), { recursive: true });
      await scene.daemon();
      expect((await get("seen")).containers[0]).toEqual(seen);
      await remove("memory", "seen", ...names);
      expect(taskCgroups()).toEqual([]);
    },
    LONGEST_MS,
  );

  test("E30 E34 E83 a hundred calls of stop send one signal and report one end; the task's resources are released once", async () => {
    const shared = mkdtempSync(join(scene.directory, "shared-"));
    const fields = { memory: "16Mi", mounts: [{ source: shared, target: "/shared" }] };
    const script = "trap 'echo - >> /shared/lines; sleep 0.5; exit 0' TERM; sleep 1000 & wait";
    const daemon = await scene.daemon();
    const free = (await node()).ledger;
    await apply(text("t", [{ name: "a", script, fields }], { memory: "32Mi" }));
    await reaches("t", "RUNNING");
    expect((await node()).ledger).not.toEqual(free);
    const asked = [...Array(100)].map(() => http(scene.socket, "POST", "/v1/stop", { group: "default", names: ["t"] }));
    for (const { status } of await Promise.all(asked)) expect(status).toBeLessThan(300);
    const restart = await http(scene.socket, "POST", "/v1/restart", { group: "default", names: ["t"] });
    await reaches("t", "STOPPED");
    expect((await get("t")).containers[0]).toMatchObject({ generation: 1, exit: { code: 0 } });
    expect(restart.text).toContain('"not-running"');
    await http(scene.socket, "POST", "/v1/stop", { group: "default", names: ["t"] });
    expect(readFileSync(join(shared, "lines"), "utf8")).toBe("-\n");
    expect((await node()).ledger).toEqual(free);
    expect((await told("container", "t")).map(({ known }) => known)).toEqual(["PULLED", "CREATED", "RUNNING", "STOPPED"]);
    const ends = async () => (await told("task", "t")).filter(({ known }) => known === "STOPPED");
    expect(await ends()).toHaveLength(1);
    await daemon.kill();
    await scene.daemon();
    expect(await ends()).toHaveLength(1);
    expect((await node()).ledger).toEqual(free);
    await remove("t");
  });

  test("E81 a failed start is reported once, with the error, and not as the state that it should have reached", async () => {
    await scene.daemon();
    await apply(text("t", [{ name: "a", fields: { command: "/bin/nobody" } }]));
    await reaches("t", "STOPPED");
    const events = await told("container", "t");
    expect(events.map(({ known }) => known)).toEqual(["PULLED", "CREATED", "STOPPED"]);
    expect(events[2]).toMatchObject({ exit: null, reason: { code: "StartFailed", text: expect.stringContaining("/bin/nobody") } });
    expect(scene.list()).toEqual([]);
    await remove("t");
  });

  test("E82 a record with an unknown container status is named, and the other tasks go on", async () => {
    const first = await scene.daemon();
    await apply(text("t", [{ name: "a" }]), text("other", [{ name: "a" }]));
    for (const name of ["t", "other"]) await reaches(name, "RUNNING");
    const before = processes("other");
    await first.kill();
    const store = new Store({ directory: scene.stateDir });
    const { key, content } = store.load().records.find((one) => one.key === "default.t.1")!;
    const changed = JSON.parse(content);
    changed.containers[0].known = "FLYING";
    store.commit({ put: [{ kind: "task", key, content: JSON.stringify(changed) }] } as never);
    store.close();
    const daemon = await scene.daemon();
    expect(daemon.log()).not.toContain("event-failed");
    expect((await node()).conditions).toContainEqual({ type: "RecordsDamaged", message: "task default.t.1" });
    expect((await get("other")).known).toBe("RUNNING");
    expect(processes("other")).toEqual(before);
    await remove("other");
  });

  test("E87 a stopped task can be inspected for its retention, also with the next daemon, and is removed afterwards", async () => {
    const first = await scene.daemon();
    await apply(text("t", [{ name: "a", script: "exit 3" }], { retention: "10s" }));
    await reaches("t", "STOPPED");
    const { stoppedMs } = (await get("t")).containers[0]!;
    await first.kill();
    await scene.daemon();
    expect((await get("t")).containers[0]).toMatchObject({ known: "STOPPED", exit: { code: 3 }, stoppedMs });
    await until(async () => (await http(scene.socket, "GET", "/v1/tasks/t")).status === 404);
    expect(Date.now() - stoppedMs!).toBeGreaterThanOrEqual(10_000);
    expect(readdirSync(executors).filter((id) => !id.startsWith("@"))).toEqual([]);
  });

  test("E88 records of an earlier incarnation that reappear do not affect the running one", async () => {
    const first = await scene.daemon();
    await apply(text("t", [{ name: "a" }]));
    await reaches("t", "RUNNING");
    const [old, kept] = [idOf("t"), join(scene.directory, "kept")];
    const filter = (path: string) => !statSync(path).isFIFO();
    cpSync(join(executors, old), kept, { recursive: true, filter });
    expect(await scene.ctl("restart", "t")).toMatchObject({ status: 0 });
    // The task is RUNNING before it knows that its new container is.
    const isNew = ({ generation, known }: { generation: number; known: string }) => generation === 2 && known === "RUNNING";
    await until(async () => isNew((await get("t")).containers[0]!));
    await until(() => !existsSync(join(executors, old)) && processes("t").length === 1);
    const [before, container] = [processes("t"), (await get("t")).containers[0]];
    await first.kill();
    cpSync(kept, join(executors, old), { recursive: true });
    const daemon = await scene.daemon();
    expect((await get("t")).containers[0]).toEqual(container);
    expect(processes("t")).toEqual(before);
    await remove("t");
    expect([scene.list(), taskCgroups()]).toEqual([[], []]);
    expect(daemon.log()).not.toMatch(/"uncaught|"defect|"event-failed/);
  });

  test("E90 a task always has the lowest status of its containers; the end of the essential container ends all", async () => {
    await scene.daemon();
    const dependsOn = [{ container: "main", condition: "START" }];
    const shared = mkdtempSync(join(scene.directory, "shared-"));
    const mounts = [{ source: shared, target: "/shared" }];
    const slow = { command: ["/bin/sh", "-c", "[ -e /ready ]"], interval: "100ms", retries: 100 };
    const script = "sleep 0.3; touch /ready; until [ -e /shared/end ]; do sleep 0.05; done; exit 4";
    const containers = [
      { name: "main", script, fields: { healthCheck: slow, mounts } },
      { name: "next", fields: { dependsOn, essential: false } },
      { name: "last", fields: { dependsOn: [{ container: "main", condition: "HEALTHY" }], essential: false } },
    ];
    await apply(text("t", containers));
    const seen = new Set<string>();
    const ORDER = ["NONE", "PULLED", "CREATED", "RUNNING", "STOPPED"];
    await until(async () => {
      const { known, containers: all } = await get("t");
      const lowest = all.map((one) => one.known).sort((a, b) => ORDER.indexOf(a) - ORDER.indexOf(b))[0]!;
      const expected = lowest === "PULLED" ? "NONE" : lowest;
      // While the others are being ended the task keeps what it was.
      const isEnding = all[0]!.known === "STOPPED" && lowest !== "STOPPED";
      if (!isEnding) expect([all.map((one) => one.known), known]).toEqual([all.map((one) => one.known), expected]);
      else expect(known).toBe("RUNNING");
      seen.add(known);
      if (known === "RUNNING") writeFileSync(join(shared, "end"), "");
      return known === "STOPPED";
    });
    expect(seen).toContain("RUNNING");
    expect((await get("t")).containers.map(({ name, exit }) => [name, exit?.code])).toEqual([
      ["main", 4],
      ["next", 0],
      ["last", 0],
    ]);
    await remove("t");
  });
});
