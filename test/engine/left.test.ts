/** What cannot be stopped or removed: it is told as event, condition and by the client that waits, holds up nothing else, and goes when it can. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, onTestFinished, test } from "vitest";
import type { NodeView, TaskView } from "../../src/engine/index.ts";
import { mountDeaf } from "../support/deaf-mount.ts";
import { REPOSITORY } from "../support/programs.ts";
import { taskCgroups } from "./daemon-cgroups.ts";
import { eventsOf, http, isRoot, LONGEST_MS, until, useEngine } from "./support.ts";
import { taskText } from "./tasks.ts";

describe.skipIf(!isRoot || !existsSync("/dev/fuse"))("what cannot be ended (needs root and FUSE)", () => {
  const scene = useEngine();
  let holders: ChildProcess[] = [];
  let mounted: string[] = [];
  // Before the scene cleans up, which waits for processes.
  afterEach(() => {
    for (const child of holders) child.kill("SIGKILL");
    holders = [];
    for (const path of mounted) if (readFileSync("/proc/self/mounts", "utf8").includes(path)) execFileSync("umount", [path]);
    mounted = [];
  });
  const executors = join(scene.stateDir, "executors");
  const node = async (): Promise<NodeView> => JSON.parse((await http(scene.socket, "GET", "/v1/node")).text);
  const get = async (name: string): Promise<TaskView> => JSON.parse((await http(scene.socket, "GET", `/v1/tasks/${name}`)).text);
  const running = (name: string) => until(async () => (await get(name)).known === "RUNNING");
  const told = async () => (await eventsOf(scene.socket, 0)).map(({ data }) => data).filter(({ type }) => type === "left");
  const pidOf = (name: string) => scene.list().find(({ id }) => id.startsWith(`default.${name}.`))!.pid;

  /** A process of the task waits in the kernel until this is called. */
  async function hold(name: string): Promise<() => void> {
    const root = `/proc/${pidOf(name)}/root/tmp`;
    await until(() => existsSync(`${root}/deaf`));
    const child = spawn(process.execPath, [join(REPOSITORY, "test/support/deaf-fuse.mjs"), "/tmp/deaf", String(pidOf(name))], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    holders.push(child);
    let printed = "";
    child.stdout.on("data", (data) => {
      printed += data;
    });
    await until(() => printed.includes("mounted"));
    writeFileSync(`${root}/go`, "");
    await until(() => printed.includes("kept"));
    return () => void child.kill("SIGKILL");
  }
  const HELD =
    "mkdir -p /tmp/deaf; rm -f /tmp/go; until [ -e /tmp/go ]; do sleep 0.05; done; cat /tmp/deaf/file & trap 'exit 0' TERM; wait";

  test(
    "E77 a process that SIGKILL does not end: the task is not reported as stopped, a waiting client gets the reason within its time, other tasks go on, and the task is removed when the process has ended",
    async () => {
      const daemon = await scene.daemon();
      const text = (name: string, script: string) => taskText(scene.rootfs(), name, [{ name: "a", script, fields: { stopTimeout: "1s" } }]);
      await http(scene.socket, "POST", "/v1/apply", {
        text: `${text("held", HELD)}\n---\n${text("other", "trap 'exit 0' TERM; sleep 1000 & wait")}`,
      });
      for (const name of ["held", "other"]) await running(name);
      const release = await hold("held");
      const pid = pidOf("held");
      const stopped = scene.ctl("stop", "held", "--timeout", "20s");
      expect(await scene.ctl("delete", "other")).toMatchObject({ status: 0 });
      expect(await stopped).toEqual({
        status: 1,
        stdout: "",
        stderr: expect.stringMatching(
          /^runtctl: task held is not stopped yet: a: still there after SIGKILL: \d+; the daemon tries again\nruntctl: task held is not stopped: a: .*; the wait is over, and the daemon goes on\n$/,
        ),
      });
      expect(existsSync(`/proc/${pid}`)).toBe(true);
      expect(await get("held")).toMatchObject({ known: "RUNNING", left: [{ of: "a", message: expect.stringContaining("after SIGKILL") }] });
      expect(await told()).toMatchObject([{ of: "a", task: "default.held.1", message: expect.stringContaining("after SIGKILL") }]);
      expect((await node()).conditions).toMatchObject([{ type: "NotStopped", message: expect.stringContaining("a of default.held.1: ") }]);
      // Nothing of it is given back before.
      const deleted = scene.ctl("delete", "held", "--timeout", "1s");
      expect(await deleted).toMatchObject({ status: 1, stderr: expect.stringContaining("task held is not deleted") });
      release();
      // The daemon has gone on with what was asked for.
      await until(async () => (await http(scene.socket, "GET", "/v1/tasks/held")).status === 404);
      expect(await node()).toMatchObject({ tasks: 0, conditions: [] });
      expect([scene.list(), taskCgroups()]).toEqual([[], []]);
      expect(daemon.log()).not.toMatch(/"uncaught|"defect/);
    },
    LONGEST_MS,
  );

  test(
    "a path of a task on a mount that does not answer: the task waits, which is told, other tasks start meanwhile, a stop ends the wait, and the next daemon starts, too",
    async () => {
      const directory = mkdtempSync(join(tmpdir(), "runt-deaf-"));
      onTestFinished(() => rmdirSync(directory));
      const first = await scene.daemon();
      const web = { name: "a", script: "trap 'exit 0' TERM; sleep 1000 & wait" };
      const dead = { ...web, fields: { mounts: [{ source: join(directory, "data"), target: "/tmp" }] } };
      const release = await mountDeaf(directory, 2 * (LONGEST_MS / 1000));
      await http(scene.socket, "POST", "/v1/apply", { text: taskText(scene.rootfs(), "dead", [dead]) });
      await http(scene.socket, "POST", "/v1/apply", { text: taskText(scene.rootfs(), "other", [web]) });
      await running("other");
      const message = `${directory}/data does not answer within 10 s: deaf (fuse) is mounted at ${directory}`;
      await until(() => first.log().includes(message));
      expect((await get("dead")).desired).toBe("RUNNING");
      expect(await scene.ctl("stop", "dead", "--timeout", "30s")).toMatchObject({ status: 0 });
      expect((await get("dead")).known).toBe("STOPPED");
      // Nor does the next daemon wait for the process that looks at the mount.
      await first.kill();
      await scene.daemon();
      expect(await scene.ctl("delete", "dead", "other")).toMatchObject({ status: 0 });
      // The process that looks at it ends with it, and the scene waits for all of them.
      await release();
    },
    LONGEST_MS,
  );

  test(
    "E79 a container that cannot be removed: the other containers are removed, the task lists this one as left, tries again, and is removed when that succeeds",
    async () => {
      await scene.daemon();
      await http(scene.socket, "POST", "/v1/apply", { text: taskText(scene.rootfs(), "t", [{ name: "a" }, { name: "b" }]) });
      await running("t");
      const busy = join(executors, readdirSync(executors).find((id) => id.includes(".a-"))!, "busy");
      mkdirSync(busy);
      execFileSync("mount", ["-t", "tmpfs", "foreign", busy]);
      mounted.push(busy);
      writeFileSync(join(busy, "file"), "of somebody else");
      const failed = await scene.ctl("delete", "t", "--timeout", "3s");
      expect(failed).toMatchObject({ status: 1, stderr: expect.stringMatching(/^runtctl: task t is not deleted yet: a: /) });
      expect(readdirSync(executors).filter((id) => !id.startsWith("@"))).toEqual([expect.stringContaining(".a-")]);
      expect(readFileSync(join(busy, "file"), "utf8")).toBe("of somebody else");
      expect(await told()).toMatchObject([{ of: "a", task: "default.t.1" }]);
      expect((await node()).conditions).toMatchObject([{ type: "NotRemoved", message: expect.stringContaining("a of default.t.1: ") }]);
      execFileSync("umount", [busy]);
      await until(async () => (await node()).tasks === 0);
      expect(await node()).toMatchObject({ conditions: [] });
      expect(readdirSync(executors).filter((id) => !id.startsWith("@"))).toEqual([]);
    },
    LONGEST_MS,
  );

  test("E77 without cgroups of their own, the daemon cannot tell who owns processes with lost records; it leaves them alone, and says so", async () => {
    const first = await scene.daemon({ args: ["--no-task-limits"] });
    await http(scene.socket, "POST", "/v1/apply", { text: taskText(scene.rootfs(), "t", [{ name: "a" }]) });
    await running("t");
    const { id, pid } = scene.list()[0]!;
    await first.kill();
    for (const root of [executors, join(executors, "@runtime")]) execFileSync("rm", ["-r", join(root, id)]);
    await scene.daemon({ args: ["--no-task-limits"] });
    await until(async () => (await node()).conditions.some(({ type }) => type === "NotStopped"));
    expect((await told()).map(({ of }) => of)).toEqual(["a"]);
    expect((await scene.ctl("stop", "t", "--timeout", "1s")).stderr).toContain("nothing proves that they are of this container");
    expect(existsSync(`/proc/${pid}`)).toBe(true);
    process.kill(pid, "SIGKILL");
    expect(await scene.ctl("delete", "t")).toMatchObject({ status: 0 });
    expect((await node()).conditions).toEqual([]);
  });
});
