/** Records of containers that are gone, damaged or another container's: what runs is found in its cgroup and ended, nothing is told as stopped before, and all of it goes. */
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { NodeView, TaskView } from "../../src/engine/index.ts";
import { hierarchies } from "../../src/executor/process/cgroups.ts";
import { taskCgroups } from "./daemon-cgroups.ts";
import { DAMAGES } from "./damage.ts";
import { type Daemon, eventsOf, http, identityOf, isRoot, LONGEST_MS, until, useEngine } from "./support.ts";
import { taskText } from "./tasks.ts";

/** What stands in the place of a directory. Each is called with a path where nothing is. */
const OTHERS: Readonly<Record<string, (path: string) => void>> = {
  "a file": (path) => writeFileSync(path, ""),
  "a FIFO": (path) => void execFileSync("mkfifo", [path]),
  "a link to a file": (path) => symlinkSync("/etc/passwd", path),
  "a link to a directory": (path) => symlinkSync("/etc", path),
  "an empty directory": (path) => mkdirSync(path),
};

/** Where this host has the unified hierarchy. */
const UNIFIED = hierarchies().find(({ version }) => version === 2)?.mountpoint;
const ONLY_V2 = "umount -R /sys/fs/cgroup && mount -t cgroup2 cgroup2 /sys/fs/cgroup";

describe.skipIf(!isRoot)("containers whose records are lost (needs root)", () => {
  const scene = useEngine();
  const executors = join(scene.stateDir, "executors");
  const node = async (): Promise<NodeView> => JSON.parse((await http(scene.socket, "GET", "/v1/node")).text);
  const get = async (name: string): Promise<TaskView> => JSON.parse((await http(scene.socket, "GET", `/v1/tasks/${name}`)).text);
  const apply = async (text: string) => expect((await http(scene.socket, "POST", "/v1/apply", { text })).text).toContain("created");
  const events = async (type: string) => (await eventsOf(scene.socket, 0)).map(({ data }) => data).filter((data) => data["type"] === type);
  const running = (...names: readonly string[]) =>
    until(async () => (await Promise.all(names.map(get))).every(({ known }) => known === "RUNNING"));
  /** Of the one container of a task, while it runs. */
  const processOf = (name: string) => {
    const found = scene.list().find(({ id }) => id.startsWith(`default.${name}.`))!;
    return { id: found.id, pid: found.pid, identity: identityOf(found.pid) };
  };
  type Process = ReturnType<typeof processOf>;
  /** A process that is ending has no memory any more before it leaves its cgroup, and is a zombie a moment later. */
  const runs = ({ pid, identity }: { readonly pid: number; readonly identity: string }) => {
    try {
      return identityOf(pid) === identity && readFileSync(`/proc/${pid}/cmdline`, "utf8") !== "";
    } catch {
      return false;
    }
  };
  const nothingIsLeft = async (daemon: Daemon) => {
    expect(scene.list()).toEqual([]);
    expect(taskCgroups()).toEqual([]);
    const left = (path: string) => (existsSync(path) ? readdirSync(path).filter((name) => !name.startsWith("@")) : []);
    expect([left(executors), left(join(executors, "@runtime"))]).toEqual([[], []]);
    expect(daemon.log()).not.toMatch(/"uncaught|"defect/);
  };

  type Loss = (id: string, other: string) => void;
  const both: Loss = (id) => {
    rmSync(join(executors, id), { recursive: true });
    rmSync(join(executors, "@runtime", id), { recursive: true });
  };
  const LOSSES: readonly (readonly [string, Loss])[] = [
    ["both", both],
    ["those of the executor", (id) => rmSync(join(executors, id), { recursive: true })],
    ["those of the runtime", (id) => rmSync(join(executors, "@runtime", id), { recursive: true })],
    ...["executor.json", "record.json"].flatMap((name) =>
      Object.entries(DAMAGES).map(([how, damage]) => [`${name} ${how}`, (id: string) => damage(join(executors, id, name))] as const),
    ),
    ...Object.entries(DAMAGES).map(
      ([how, damage]) => [`state.json ${how}`, (id: string) => damage(join(executors, "@runtime", id, "state.json"))] as const,
    ),
    ...[executors, join(executors, "@runtime")].flatMap((root) =>
      Object.entries(OTHERS).map(
        ([what, make]) =>
          [
            `${what} in the place of a directory`,
            (id: string) => {
              rmSync(join(root, id), { recursive: true });
              make(join(root, id));
            },
          ] as const,
      ),
    ),
    [
      "the directory is a FIFO",
      (id) => {
        both(id, id);
        execFileSync("mkfifo", [join(executors, id), join(executors, "@runtime", id)]);
      },
    ],
    [
      "those of another container",
      (id, other) => {
        for (const root of [executors, join(executors, "@runtime")]) {
          rmSync(join(root, id), { recursive: true });
          cpSync(join(root, other), join(root, id), { recursive: true, filter: (path) => !statSync(path).isFIFO() });
        }
      },
    ],
  ];

  /** What was killed of it is ended before the task is told as stopped. */
  const untilStopped = async (lost: ReadonlyMap<string, Process>) => {
    await until(async () => {
      const { tasks } = JSON.parse((await http(scene.socket, "GET", "/v1/tasks")).text) as { tasks: TaskView[] };
      const stopped = tasks.filter(({ name, known }) => lost.has(name) && known === "STOPPED");
      for (const { name } of stopped) expect([name, runs(lost.get(name)!)]).toEqual([name, false]);
      return stopped.length === lost.size;
    }, LONGEST_MS);
  };

  test(
    "E21 E77 a task with lost records is ended before it is reported as stopped; other tasks go on, and nothing is left",
    async () => {
      const first = await scene.daemon();
      const names = LOSSES.map((_, index) => `t${index}`);
      await apply([...names, "other"].map((name) => taskText(scene.rootfs(), name, [{ name: "a" }])).join("\n---\n"));
      await running(...names, "other");
      const lost = new Map(names.map((name) => [name, processOf(name)]));
      const other = processOf("other");
      await first.kill();
      for (const [index, [, lose]] of LOSSES.entries()) lose(lost.get(`t${index}`)!.id, other.id);
      expect([...lost.values(), other].every(runs)).toBe(true);
      const daemon = await scene.daemon();
      await untilStopped(lost);
      expect((await get("other")).known).toBe("RUNNING");
      expect(runs(other)).toBe(true);
      const told = await events("lost");
      // A launch whose exit record is missing has never come to an end: it is undone, as after a kill.
      expect(new Set(told.map(({ name }) => name)).size).toBeGreaterThanOrEqual(names.length - 1);
      expect(await scene.ctl("delete", ...names, "other")).toMatchObject({ status: 0 });
      expect(await node()).toMatchObject({ tasks: 0, conditions: [] });
      expect(runs(other)).toBe(false);
      await nothingIsLeft(daemon);
    },
    LONGEST_MS,
  );

  test(
    "E77 a task is deleted at once although something else is in the place of what the runtime knows of its container",
    async () => {
      const daemon = await scene.daemon();
      const names = Object.keys(OTHERS).map((_, index) => `t${index}`);
      await apply(names.map((name) => taskText(scene.rootfs(), name, [{ name: "a" }])).join("\n---\n"));
      await running(...names);
      for (const [index, make] of Object.values(OTHERS).entries()) {
        const path = join(executors, "@runtime", processOf(names[index]!).id);
        rmSync(path, { recursive: true });
        make(path);
      }
      // One after the other: several at once get their signal from one process, whose failure is not theirs.
      for (const name of names) expect(await scene.ctl("delete", "--timeout", "20s", name)).toMatchObject({ status: 0 });
      await nothingIsLeft(daemon);
    },
    LONGEST_MS,
  );

  test("E21 E77 if all records of all tasks are lost, each task is ended once, and started again if its policy says so", async () => {
    const first = await scene.daemon();
    const restart = { enabled: true, backoff: { initial: "10ms" } };
    await apply(
      `${taskText(scene.rootfs(), "once", [{ name: "a" }])}\n---\n${taskText(scene.rootfs(), "again", [{ name: "a", fields: { restart } }])}`,
    );
    await running("once", "again");
    const before = [processOf("once"), processOf("again")];
    await first.kill();
    rmSync(executors, { recursive: true });
    const daemon = await scene.daemon();
    await until(async () => (await get("once")).known === "STOPPED");
    await running("again");
    expect(before.map(runs)).toEqual([false, false]);
    expect(await get("once")).toMatchObject({
      containers: [{ exit: { code: null, unknown: true }, reason: expect.stringContaining("records") }],
    });
    await until(async () => (await get("again")).containers[0]!.restarts === 1);
    expect(await scene.ctl("delete", "once", "again")).toMatchObject({ status: 0 });
    await nothingIsLeft(daemon);
  });

  test("E25 E77 if a record is lost while the daemon runs, the daemon notices it, ends the container, and reports the loss", async () => {
    const daemon = await scene.daemon();
    const names = ["t0", "t1", "t2", "t3"];
    await apply([...names, "other"].map((name) => taskText(scene.rootfs(), name, [{ name: "a" }])).join("\n---\n"));
    await running(...names, "other");
    const lost = new Map(names.map((name) => [name, processOf(name)]));
    const other = processOf("other");
    const [one, two, three, four] = names.map((name) => lost.get(name)!.id) as [string, string, string, string];
    both(one, "");
    DAMAGES["garbage"]!(join(executors, two, "record.json"));
    DAMAGES["a FIFO"]!(join(executors, three, "record.json"));
    rmSync(join(executors, "@runtime", four), { recursive: true });
    // The runtime's own records are looked at when they are needed, and now and then.
    expect(await scene.ctl("stop", "t3")).toMatchObject({ status: 0 });
    await untilStopped(lost);
    expect(runs(other)).toBe(true);
    expect(await scene.ctl("delete", ...names, "other")).toMatchObject({ status: 0 });
    await nothingIsLeft(daemon);
  });

  test.skipIf(UNIFIED === undefined)(
    "E21 E77 only on cgroup v2: a frozen container is also killed with all its processes, and every level of its cgroup is removed",
    async () => {
      const first = await scene.daemon({ before: ONLY_V2 });
      const names = ["t0", "t1", "t2", "frozen"];
      const script = "trap '' TERM; (trap '' TERM; while :; do sleep 0.1 & sleep 0.05; done) & while :; do sleep 0.1; done";
      const fields = { stopTimeout: "100ms" };
      await apply(names.map((name) => taskText(scene.rootfs(), name, [{ name: "a", script, fields }])).join("\n---\n"));
      await apply(taskText(scene.rootfs(), "other", [{ name: "a" }]));
      await running(...names, "other");
      const lost = new Map(names.map((name) => [name, processOf(name)]));
      const other = processOf("other");
      const directoryOf = ({ pid }: Process) => join(UNIFIED!, /^0::(.*)$/m.exec(readFileSync(`/proc/${pid}/cgroup`, "utf8"))![1]!);
      const places = [...lost.values()].map(directoryOf);
      expect(places.every((place) => existsSync(join(place, "cgroup.kill")))).toBe(true);
      // A level that the container has made, with a process of its own.
      mkdirSync(join(places[0]!, "own"));
      writeFileSync(join(places[0]!, "own/cgroup.procs"), String(lost.get("t0")!.pid));
      await first.kill();
      const [zero, one, two, frozen] = names.map((name) => lost.get(name)!.id) as [string, string, string, string];
      both(zero, "");
      rmSync(join(executors, one), { recursive: true });
      DAMAGES["garbage"]!(join(executors, two, "record.json"));
      both(frozen, "");
      writeFileSync(join(places[3]!, "cgroup.freeze"), "1");
      const daemon = await scene.daemon({ before: ONLY_V2 });
      await untilStopped(lost);
      expect((await get("other")).known).toBe("RUNNING");
      expect(runs(other)).toBe(true);
      expect(await scene.ctl("delete", ...names, "other")).toMatchObject({ status: 0 });
      expect(places.filter((place) => existsSync(place) || existsSync(join(place, "..")))).toEqual([]);
      await nothingIsLeft(daemon);
    },
    LONGEST_MS,
  );
});
