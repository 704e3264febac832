/** One file to its end: for jobs of a CI. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { CGROUP_PARENT } from "../support/leaks.ts";
import { REPOSITORY } from "../support/programs.ts";
import { baseLayer, writeLayout } from "./image-files.ts";
import { isRoot, scriptTask, until, useEngine } from "./support.ts";

const HAS_PROGRAMS = ["skopeo", "umoci"].every((name) => existsSync(`/usr/bin/${name}`));

describe.skipIf(!isRoot)("runtd --once (needs root)", () => {
  const scene = useEngine();
  /** Its own: other tests run such daemons at the same time. */
  const temporary = () => join(scene.directory, "tmp");
  const left = () => {
    mkdirSync(temporary(), { recursive: true });
    return readdirSync(temporary()).filter((name) => name.startsWith("runtd-once-"));
  };
  const start = (text: string, ...more: string[]): ChildProcess & { out(): string; ended: Promise<number | null> } => {
    const args = [
      join(REPOSITORY, "dist/runtd/main.js"),
      "--once",
      "-f",
      scene.file("once.yaml", text),
      "--cgroup-parent",
      CGROUP_PARENT,
      ...more,
    ];
    mkdirSync(temporary(), { recursive: true });
    const child = spawn(process.execPath, args, {
      cwd: "/",
      env: { ...process.env, TMPDIR: temporary() },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let out = "";
    child.stdout.on("data", (chunk) => {
      out += chunk;
    });
    child.stderr.resume();
    return Object.assign(child, { out: () => out, ended: new Promise<number | null>((resolve) => child.once("close", resolve)) });
  };
  const task = (script: string, more = "") => scriptTask(scene.rootfs(), { name: "job", script, container: more });

  test.each([
    ["echo done", 0, "done\n"],
    ["echo begun; exit 7", 7, "begun\n"],
  ])("%j: its exit status and output, and nothing is left", async (script, status, output) => {
    const before = left();
    const run = start(task(script));
    expect([await run.ended, run.out()]).toEqual([status, output]);
    expect(left()).toEqual(before);
    expect(cgroups()).toEqual([]);
  });

  test("options of the engine count here, too: where the journal listens", async () => {
    const journal = join(scene.directory, "journal.sock");
    let text = "";
    const server = createServer((socket) => {
      socket.on("data", (chunk) => {
        text += chunk;
      });
    });
    await new Promise<void>((ready) => server.listen(journal, ready));
    try {
      const run = start(task("echo told; exec sleep 1000", "log: { driver: journald }"), "--journal-socket", journal);
      await until(() => text.includes("told\n"));
      run.kill("SIGTERM");
      expect(await run.ended).toBe(143);
    } finally {
      server.close();
    }
  });

  test("interLink is refused: there is no socket", async () => {
    expect(await start(task("true"), "--interlink").ended).toBe(64);
  });

  test("a file with errors, a program that is not there: 1, and nothing is begun", async () => {
    const before = left();
    expect(await start("name: job\n").ended).toBe(1);
    expect(await start(task("true").replace("/bin/sh", "/no-such-program")).ended).toBe(1);
    expect(await start(task("true"), "--nonsense").ended).toBe(64);
    expect(left()).toEqual(before);
  });

  test("two containers: the essential one that ends first decides, and each line bears its container's name", async () => {
    const text = task("i=0; while :; do sleep 0.1; done").replace(
      /^containers:$/m,
      `containers:
  - name: check
    rootfs: ${scene.rootfs()}
    command: /bin/sh
    args: ["-c", "echo checked; exit 3"]
    dependsOn: [{ container: main, condition: START }]`,
    );
    const run = start(text);
    expect([await run.ended, run.out()]).toEqual([3, "check | checked\n"]);
  });

  test("E32: no task waits for a shared proxy: it ends with its users", async () => {
    const before = left();
    const proxy = scriptTask(scene.rootfs(), { name: "mesh", script: "trap 'exit 0' TERM; sleep 1000 & wait $!", task: "start: needed" });
    const user = scriptTask(scene.rootfs(), { name: "job", script: "sleep 0.5; exit 4", task: "sharedProxy: mesh" });
    expect(await start(`${proxy}${user}`).ended).toBe(4);
    expect([left(), cgroups()]).toEqual([before, []]);
  });

  test.skipIf(!HAS_PROGRAMS)("a pod with users of its own", async () => {
    writeLayout(join(scene.directory, "names/app"), { layers: [baseLayer()], tag: "v1" });
    vi.stubEnv("RUNT_IMAGES", `oci:${scene.directory}/names`);
    const runDir = join(scene.directory, "once-run");
    const command = ["/bin/sh", "-c", "cat /proc/self/uid_map; exit 3"];
    const spec = { hostUsers: false, restartPolicy: "Never", containers: [{ name: "main", image: "app:v1", command }] };
    const run = start(JSON.stringify({ apiVersion: "v1", kind: "Pod", metadata: { name: "job" }, spec }), "--run-dir", runDir);
    expect(await run.ended).toBe(3);
    expect(run.out().trim().split(/\s+/)).toEqual(["0", String(0x7000_0000), "65536"]);
    expect(readdirSync(runDir)).toEqual([]);
  });

  test("SIGTERM: the containers get theirs, nothing is left, and it ends as it was told", async () => {
    const before = left();
    const run = start(task("trap 'echo bye; exit 0' TERM; echo up; while :; do sleep 0.1; done"));
    await until(() => run.out().includes("up"));
    run.kill("SIGTERM");
    expect([await run.ended, run.out()]).toEqual([143, "up\nbye\n"]);
    expect(left()).toEqual(before);
    expect(cgroups()).toEqual([]);
  });

  test.each([
    ["its terminal is closed", 129, (run: ChildProcess) => run.kill("SIGHUP")],
    ["nobody reads its output any more", 141, (run: ChildProcess) => run.stdout!.destroy()],
  ])("%s: its containers end as by SIGTERM, and nothing is left", async (_, status, end) => {
    const before = left();
    const run = start(task("trap 'exit 0' TERM; while :; do echo up; sleep 0.1; done"));
    await until(() => run.out().includes("up"));
    end(run);
    expect(await run.ended).toBe(status);
    expect([left(), cgroups()]).toEqual([before, []]);
  });

  test("killed: with --state-dir the next one goes on with what runs", async () => {
    const run = start(task("echo up; while :; do sleep 0.1; done"), "--state-dir", scene.stateDir);
    await until(() => run.out().includes("up"));
    run.kill("SIGKILL");
    await run.ended;
    expect(scene.list().map(({ status }) => status)).toEqual(["running"]);
    await scene.daemon();
    expect((await scene.ctl("delete", "job")).status).toBe(0);
    expect(scene.list()).toEqual([]);
  });

  test("with --state-dir: another task of the group is neither waited for nor ended", async () => {
    const daemon = await scene.daemon();
    const other = scriptTask(scene.rootfs(), { name: "other", script: "while :; do sleep 0.1; done" });
    expect((await scene.ctl("apply", "-f", scene.file("other.yaml", other))).status).toBe(0);
    await until(() => scene.list().some(({ status }) => status === "running"));
    const before = scene.list();
    await daemon.kill();
    const run = start(task("echo done"), "--state-dir", scene.stateDir);
    expect([await run.ended, run.out()]).toEqual([0, "done\n"]);
    expect(scene.list()).toEqual(before);
  });

  function cgroups(): string[] {
    return readdirSync("/sys/fs/cgroup")
      .map((name) => `/sys/fs/cgroup/${name}${CGROUP_PARENT}`)
      .filter((path) => existsSync(path))
      .flatMap((path) => readdirSync(path).filter((name) => name.includes("job")));
  }
});
