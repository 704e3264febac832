/** From the file to nothing: the first way through everything. */
import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { CGROUP_PARENT } from "../support/leaks.ts";
import { printed } from "../support/log-file.ts";
import { RUNTCTL } from "./client-programs.ts";
import { namesBelow } from "./names-below.ts";
import { eventsOf, http, identityOf, isRoot, until, useEngine, webTask } from "./support.ts";

interface Task {
  readonly id: string;
  readonly known: string;
  readonly containers: readonly { readonly name: string; readonly id: string; readonly known: string; readonly log: string }[];
}

describe.skipIf(!isRoot)("a task with two containers (needs root)", () => {
  const scene = useEngine();
  const get = async (): Promise<Task> => JSON.parse((await scene.ctl("get", "web", "-o", "json")).stdout)[0];
  const isRunning = async () => (await get()).known === "RUNNING";
  const identities = () => scene.list().map(({ id, pid }) => `${id} ${identityOf(pid)}`);
  const follow = (...words: string[]) => {
    const args = [...RUNTCTL.slice(1), "-s", scene.socket, "logs", "-f", ...words];
    const child = spawn(RUNTCTL[0], args, { stdio: ["ignore", "pipe", "inherit"] });
    let text = "";
    child.stdout.on("data", (chunk) => {
      text += chunk;
    });
    return { text: () => text, ended: new Promise((done) => child.once("close", done)) };
  };
  const linesOf = (path: string) => printed(path, "stdout").trimEnd().split("\n");

  test("E80 a task is applied, outlives its daemon, is found again with its log, and is deleted without leftovers", async () => {
    const first = await scene.daemon();
    const file = scene.file("web.yaml", webTask(scene.rootfs()));
    expect(await scene.ctl("apply", "-f", file)).toEqual({ status: 0, stdout: "task web created\n", stderr: "" });
    await until(isRunning);
    const task = await get();
    expect(scene.list().map(({ id, status }) => [id, status])).toEqual([...task.containers].map(({ id }) => [id, "running"]).sort());
    // The kernel says where they are, and in which order they have begun.
    const [db, app] = task.containers.map(({ id }) => scene.list().find((one) => one.id === id)!.pid);
    for (const pid of [db!, app!]) expect(readFileSync(`/proc/${pid}/cgroup`, "utf8")).toContain(`${CGROUP_PARENT}/${task.id}-`);
    const ticks = (pid: number) => Number(identityOf(pid).split(":")[1]);
    expect(ticks(db!)).toBeLessThanOrEqual(ticks(app!));

    const before = identities();
    await first.kill();
    const log = task.containers[0]!.log;
    const printed = linesOf(log).length;
    await until(() => linesOf(log).length > printed + 2);
    expect(identities()).toEqual(before);

    await scene.daemon();
    expect((await get()).containers.map(({ known }) => known)).toEqual(["RUNNING", "RUNNING"]);
    expect(identities()).toEqual(before);
    expect((await scene.ctl("get")).stdout).toMatch(
      /^TASK +CONTAINER +STATE .*\nweb +db +RUNNING +yes +- +0 .*\nweb +app +RUNNING +yes +- +0 /,
    );
    const shown = (await scene.ctl("logs", "web", "-c", "db")).stdout.split("\n");
    expect(shown.slice(0, printed + 3)).toEqual(Array.from({ length: printed + 3 }, (_, index) => `db ${index + 1}`));
    // It goes on printing meanwhile.
    const last = (await scene.ctl("logs", "web", "-c", "app", "-n", "1")).stdout;
    expect(last).toMatch(/^(?:app \d+\n)+$/);
    expect(Number(last.split(/\s/)[1])).toBeGreaterThan(2);
    expect((await scene.ctl("apply", "-f", file)).stdout).toBe("task web unchanged\n");

    const follower = follow("web", "-c", "db");
    await until(() => linesOf(log).length > printed + 5 && follower.text().startsWith("db 1\n"));
    expect(await scene.ctl("delete", "web")).toEqual({ status: 0, stdout: "task web deleted\n", stderr: "" });
    // It has seen the end: the program had its signal, and the time to answer it.
    await follower.ended;
    expect(follower.text()).toMatch(/\ndb ends\n$/);
    expect(scene.list()).toEqual([]);
    for (const line of before) expect(existsSync(`/proc/${line.split(" ")[1]!.split(":")[0]}`)).toBe(false);
    expect(cgroupsOf(task.id)).toEqual([]);
    expect(readFileSync("/proc/self/mountinfo", "utf8")).not.toContain(task.id);
    const files = namesBelow(scene.stateDir);
    expect(files.filter((path) => path.includes("web"))).toEqual([]);
    expect((await scene.ctl("get")).stderr).toBe("no tasks in group default\n");
  });

  test("what an essential container's end means is told with its reason; events are numbered, and go on over a restart", async () => {
    const first = await scene.daemon();
    const text = webTask(scene.rootfs()).replace(/echo app \$i; sleep 0.05/, "sleep 0.5; exit 7");
    expect((await scene.ctl("apply", "-f", scene.file("short.yaml", text))).status).toBe(0);
    await until(async () => (await get()).known === "STOPPED");
    expect((await scene.ctl("get")).stdout).toMatch(/app +STOPPED .* container app exited with 7/);
    await first.kill();
    await scene.daemon();
    const socket = join(scene.directory, "run/read.sock");
    const events = await eventsOf(socket, 0);
    expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index + 1));
    expect(events[0]!.data).toMatchObject({ type: "added", name: "web" });
    const exit = events.find(({ data }) => data["container"] === "app" && data["known"] === "STOPPED");
    expect(exit?.data).toMatchObject({ exit: { code: 7, signal: null, unknown: false } });
    expect((await scene.ctl("delete", "web")).status).toBe(0);
    expect((await eventsOf(socket, events.length))[0]?.sequence).toBe(events.length + 1);
  });

  test("the admin socket is for its owner; the socket for reading changes nothing", async () => {
    await scene.daemon();
    const read = join(scene.directory, "run/read.sock");
    expect(statSync(scene.socket).mode & 0o777).toBe(0o600);
    expect(statSync(read).mode & 0o777).toBe(0o660);
    await scene.ctl("apply", "-f", scene.file("web.yaml", webTask(scene.rootfs())));
    expect((await http(read, "DELETE", "/v1/tasks/web")).status).toBe(403);
    expect((await http(read, "POST", "/v1/apply")).status).toBe(403);
    expect((await http(read, "GET", "/v1/tasks/web")).status).toBe(200);
    expect((await http(read, "GET", "/v1/metrics")).text).toMatch(/^runtd_tasks\{state="\w+"\} 1$/m);
    expect((await http(read, "GET", "/v1/nothing")).status).toBe(404);
    // Its launch would go on behind the clean-up.
    expect((await scene.ctl("delete", "web")).status).toBe(0);
  });
});

function cgroupsOf(task: string): string[] {
  const parents = ["", ...readdirSync("/sys/fs/cgroup")].map((name) => join("/sys/fs/cgroup", name, CGROUP_PARENT));
  return parents.filter((path) => existsSync(path)).flatMap((path) => readdirSync(path).filter((name) => name.startsWith(task)));
}
