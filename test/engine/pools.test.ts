/** Pools of the daemon: they are kept filled, run programs for clients that may be slow or go away, and survive the death of the daemon. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { FRAME, type FrameKind } from "../../src/shared/frames/index.ts";
import { containerProcesses } from "../support/leaks.ts";
import { RUNTCTL } from "./client-programs.ts";
import { baseLayer, writeLayout } from "./image-files.ts";
import { openedRun } from "./pool-client.ts";
import { type Answer, eventsOf, http, isRoot, LONGEST_MS, until, useEngine } from "./support.ts";

const HAS_PROGRAMS = ["skopeo", "umoci"].every((name) => existsSync(`/usr/bin/${name}`));

interface PoolAnswer {
  readonly id: string;
  readonly state: string;
  readonly parked: number;
  readonly taken: number;
  readonly takes: number;
  readonly waits: number;
  readonly refills: number;
  readonly adopted: number;
  readonly discarded: number;
  readonly failing: { readonly code: string; readonly message: string } | null;
}

describe.skipIf(!isRoot)("pools of the daemon (needs root)", () => {
  const scene = useEngine();
  const poolText = (fields: object = {}) => JSON.stringify({ kind: "Pool", name: "py", rootfs: scene.rootfs(), size: 2, ...fields });
  const poolFile = (fields: object = {}, name = "pool.json") => scene.file(name, poolText(fields));
  const pool = async (name = "py") => JSON.parse((await http(scene.socket, "GET", `/v1/pools/${name}`)).text) as PoolAnswer;
  const parked = (count: number) => until(async () => (await pool()).parked === count);
  const run = (...args: string[]): Promise<Answer> => scene.ctl("pool", "run", "py", ...args);
  const shell = (script: string) => ["--", "/bin/sh", "-c", script];
  /** Everything of the pools that is on disk. */
  const left = () =>
    [join(scene.stateDir, "pools"), join(scene.stateDir, "images/roots")].flatMap((path) => (existsSync(path) ? readdirSync(path) : []));
  const started = (words: readonly string[], input = ""): ChildProcess & { text(): string; readonly ended: Promise<number | null> } => {
    const [program = "", ...rest] = [...RUNTCTL, "-s", scene.socket, ...words];
    const child = spawn(program, rest, { stdio: ["pipe", "pipe", "pipe"] });
    let text = "";
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk) => {
        text += chunk;
      });
    child.stdin.on("error", () => {});
    child.stdin.end(input);
    return Object.assign(child, { text: () => text, ended: new Promise<number | null>((resolve) => child.once("close", resolve)) });
  };
  const opened = () => openedRun(scene.socket, "py");

  test(
    "a file with a pool is validated, planned, applied and listed; programs run with arguments, input, files, variables and a status; delete leaves nothing",
    async () => {
      await scene.daemon();
      expect((await scene.ctl("validate", "-f", poolFile())).stdout).toContain("pool py: no errors");
      const wrong = await scene.ctl(
        "validate",
        "-f",
        scene.file("wrong.yaml", "kind: Pool\nname: py\nsize: 0\nimage: x\nhostNetwork: true\n"),
      );
      expect(wrong.status).toBe(1);
      expect(wrong.stderr).toMatch(
        /3:1: \/size: has to be at least 1\n.*4:1: \/image: write oci:.*\n.*5:1: \/hostNetwork: the field "hostNetwork" is not supported/,
      );
      expect((await scene.ctl("validate", "-f", scene.file("both.json", poolText({ image: "oci:/x" })))).stderr).toContain(
        "either an image or a rootfs",
      );
      const task = { name: "t", containers: [{ name: "c", rootfs: scene.rootfs(), command: "/bin/true" }] };
      const file = scene.file("both.yaml", `${poolText()}\n---\n${JSON.stringify(task)}\n`);
      expect((await scene.ctl("plan", "-f", file)).stdout).toBe("+ task t would be started\n+ pool py would be made\n");
      const applied = (await scene.ctl("apply", "-f", file, "--wait")).stdout.trim().split("\n");
      expect(applied.slice(0, 2)).toEqual(["task t created", "pool py created"]);
      expect(applied.slice(2).sort()).toEqual(["pool py is ready", "task t is ready"]);
      expect((await scene.ctl("plan", "-f", file)).stdout).toContain("= pool py stays as it is");
      expect((await scene.ctl("pool")).stdout).toMatch(/^POOL +STATE +READY +TAKEN +WAITING +RUNS +AGE\npy +ready +2\/2 +0 +0 +0 +\d+s\n$/);
      expect((await scene.ctl("pool", "describe", "py")).stdout).toMatch(
        /Containers: +2 of 2 wait, 0 are being made, 0 run\n(?:.*\n)*kind: Pool\n/,
      );

      expect(await run(...shell("echo out; echo err >&2; exit 7"))).toEqual({ status: 7, stdout: "out\n", stderr: "err\n" });
      const given = scene.file("given", "content\n");
      const told = await run(
        "-e",
        "A=b=c",
        "-w",
        "/",
        "--copy",
        `${given}:/tmp/a/given`,
        ...shell('echo "$A $(pwd)"; cat /tmp/a/given; id -u'),
      );
      expect(told.stdout).toBe("b=c /\ncontent\n65534\n");
      const counting = started(["pool", "run", "py", "-i", ...shell("wc -c")], "y".repeat(700_000));
      expect([await counting.ended, counting.text().trim()]).toEqual([0, "700000"]);
      const big = await run(...shell("head -c 1000000 /dev/zero | tr '\\0' x"));
      expect([big.status, big.stdout.length]).toEqual([0, 1_000_000]);
      expect(await run("--", "no-such-program")).toMatchObject({ status: 127, stdout: "" });
      expect(await run("--", "/etc")).toMatchObject({ status: 126 });
      expect((await run(...shell("cat /tmp/a/given"))).status).toBe(1);
      expect(await scene.ctl("pool", "run", "none", "--", "true")).toMatchObject({
        status: 1,
        stderr: "runtctl: there is no pool none in group default\n",
      });
      expect((await scene.ctl("pool", "run", "py", "--kill", "--", "true")).status).toBe(2);

      const metrics = (await http(scene.socket, "GET", "/v1/metrics")).text;
      expect(metrics).toMatch(/^runtd_pool_parked\{pool="default\.py\.\d+",group="default",name="py"\} \d+$/m);
      expect(metrics).toMatch(/^runtd_pool_takes_total\{.*\} 5$/m);
      for (const name of ["taken", "waiting", "waits_total", "refills_total"]) expect(metrics).toContain(`\nruntd_pool_${name}{`);

      expect((await scene.ctl("delete", "-f", file)).stdout).toBe("task t deleted\npool py deleted\n");
      expect(left()).toEqual([]);
      expect((await scene.ctl("pool")).stderr).toBe("no pools in group default\n");
      expect((await eventsOf(scene.socket, 0)).filter(({ data }) => data["type"] === "pool").map(({ data }) => data["state"])).toEqual([
        "added",
        "ending",
        "removed",
      ]);
      expect((await scene.ctl("events")).stdout).toMatch(/py {2}pool added, asked by uid 0/);
    },
    LONGEST_MS,
  );

  test(
    "a killed daemon: containers that wait are taken over, a program that runs ends, and what was being removed is removed",
    async () => {
      const first = await scene.daemon();
      await scene.ctl("apply", "-f", poolFile({ deadline: "1h", size: 3 }), "--wait");
      await scene.ctl("apply", "-f", poolFile({ name: "old" }, "old.json"), "--wait");
      const before = (await pool()).id;
      const running = started(["pool", "run", "py", ...shell("echo up; sleep 1000 # of-the-killed")]);
      await until(() => running.text() === "up\n");
      await parked(3);
      const waiting = () => readdirSync(join(scene.stateDir, "pools", before, "boxes")).filter((name) => name.startsWith("b-"));
      const old = waiting();
      const ending = started(["pool", "run", "old", ...shell("echo up; sleep 1000")]);
      await until(() => ending.text() === "up\n");
      expect((await scene.ctl("pool", "delete", "old", "--no-wait")).stdout).toBe("pool old is being deleted\n");
      expect((await scene.ctl("pool", "run", "old", "--", "true")).stderr).toContain("being removed");
      await first.kill();
      expect([await running.ended, running.text()]).toEqual([1, "up\nruntctl: the daemon has gone away, and the program with it\n"]);
      await scene.daemon();
      await parked(3);
      expect(await pool()).toMatchObject({ id: before, state: "ready", adopted: 3, refills: 0, taken: 0 });
      const now = waiting();
      expect(now).toHaveLength(3);
      expect(now.every((id) => old.includes(id))).toBe(true);
      await until(() => !containerProcesses(scene.stateDir).some((line) => line.includes("of-the-killed")));
      expect((await run(...shell("echo again"))).stdout).toBe("again\n");
      await until(async () => (await http(scene.socket, "GET", "/v1/pools/old")).status === 404);
      expect((await scene.ctl("pool", "delete", "py")).stdout).toBe("pool py deleted\n");
      expect(left()).toEqual([]);
    },
    LONGEST_MS,
  );

  test(
    "a client that goes away ends its run, also while it waits and while its input is not read; a slow one keeps nobody else waiting",
    async () => {
      await scene.daemon();
      await scene.ctl("apply", "-f", poolFile({ deadline: "1h", maxTaken: 4 }), "--wait");
      const gone = opened();
      gone.send(FRAME.start, JSON.stringify({ command: ["/bin/sleep", "1000"] }));
      await until(async () => (await pool()).taken === 1);
      gone.socket.destroy();
      await until(async () => (await pool()).taken === 0);
      // More input than the program takes: the daemon does not read on.
      const stuffed = opened();
      stuffed.send(FRAME.start, JSON.stringify({ command: ["/bin/sleep", "1000"], stdin: true }));
      for (let count = 0; count < 8; count++) stuffed.send(FRAME.stdin, Buffer.alloc(1 << 19, "x"));
      await until(async () => (await pool()).taken === 1);
      await new Promise((resolve) => setTimeout(resolve, 300));
      stuffed.socket.destroy();
      await until(async () => (await pool()).taken === 0);
      // Clients that read nothing of what their programs print without an end.
      const slow = Array.from({ length: 3 }, () => opened());
      for (const one of slow) {
        one.send(FRAME.start, JSON.stringify({ command: ["/bin/sh", "-c", "while :; do echo yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy; done"] }));
        one.socket.pause();
      }
      await until(async () => (await pool()).taken === 3);
      for (let count = 0; count < 5; count++) expect((await run(...shell("echo quick"))).stdout).toBe("quick\n");
      const last = opened();
      last.send(FRAME.start, JSON.stringify({ command: ["/bin/sleep", "1000"] }));
      await until(async () => (await pool()).taken === 4);
      const queued = opened();
      queued.send(FRAME.start, JSON.stringify({ command: ["/bin/sleep", "1000"] }));
      await until(async () => (await pool()).waits > 0);
      queued.socket.destroy();
      for (const one of [...slow, last]) one.socket.destroy();
      await until(async () => {
        const { taken, parked: ready } = await pool();
        return taken === 0 && ready === 2;
      });
      await scene.ctl("pool", "delete", "py", "--kill");
      expect(left()).toEqual([]);
    },
    LONGEST_MS,
  );

  test(
    "limits: the deadline, the output and the number of requests; and what is no request is refused by name",
    async () => {
      await scene.daemon();
      await scene.ctl(
        "apply",
        "-f",
        poolFile({ size: 1, deadline: "2s", outputSize: "4Ki", maxTaken: 1, maxWaiting: 1, memory: "32Mi" }),
        "--wait",
      );
      const late = await run("--deadline", "300ms", ...shell("echo begun; sleep 1000"));
      expect(late).toMatchObject({ status: 137, stdout: "begun\n", stderr: "runtctl: the program was killed at its deadline\n" });
      const loud = await run(...shell("while :; do echo yyyyyyyyyyyyyyy; done"));
      expect([loud.stdout.length, loud.stderr]).toEqual([
        4096,
        "runtctl: the program was killed: it has printed more than the pool allows\n",
      ]);
      expect((await run("--deadline", "1h", ...shell("true"))).stderr).toContain("the pool allows 1 to 2000");
      expect((await run(...shell("head -c 100000000 /dev/zero | tail"))).status).not.toBe(0);
      const [one, two] = [opened(), opened()];
      for (const each of [one, two]) each.send(FRAME.start, JSON.stringify({ command: ["/bin/sleep", "1000"] }));
      await until(async () => (await pool()).waits > 0);
      expect((await run(...shell("true"))).stderr).toContain("1 callers wait for a box already");
      for (const each of [one, two]) expect(await each.last()).toMatchObject({ exitCode: 137, endedBy: "deadline" });

      const failed = async (...frames: (readonly [FrameKind, string | Uint8Array])[]) => {
        const client = opened();
        for (const [kind, payload] of frames) client.send(kind, payload);
        const { code, message } = await client.last();
        return `${code}: ${message}`;
      };
      expect(await failed([FRAME.stdin, "x"])).toContain("invalid-argument: the first frame is of kind 1");
      expect(await failed([FRAME.start, "{"])).toContain("invalid-argument");
      expect(await failed([FRAME.start, '{"shell":"x"}'])).toContain("shell");
      expect(await failed([FRAME.start, JSON.stringify({ files: [{ path: "/tmp/x", bytes: 5e6 }] })])).toContain("bytes");
      const files = [{ path: "/tmp/x", bytes: 3 }];
      expect(await failed([FRAME.start, JSON.stringify({ files })], [FRAME.file, "four"])).toContain(
        "more bytes than the first frame says",
      );
      expect(await failed([FRAME.start, JSON.stringify({ files })], [FRAME.stdinEnd, ""])).toContain("the files have not come yet");
      expect(await failed([FRAME.start, JSON.stringify({ command: ["true"], files: [{ path: "x", bytes: 0 }] })])).toContain(
        "x is not absolute",
      );
      expect(await failed([FRAME.start, JSON.stringify({ command: ["true"], limits: { memoryBytes: 2 ** 40 } })])).toContain(
        "can only have less",
      );
      expect((await run(...shell("echo fine"))).stdout).toBe("fine\n");
      await scene.ctl("pool", "delete", "py");
    },
    LONGEST_MS,
  );

  test(
    "a new spec replaces the pool while a program of the old one ends; a file of another place takes nothing over; prune removes it",
    async () => {
      await scene.daemon();
      await scene.ctl("apply", "-f", poolFile({ deadline: "1h", env: { VERSION: "1" } }), "--wait");
      const first = started(["pool", "run", "py", ...shell("echo up; sleep 3; echo $VERSION")]);
      await until(() => first.text() === "up\n");
      const { id } = await pool();
      expect((await scene.ctl("apply", "-f", poolFile({ deadline: "1h", env: { VERSION: "2" } }), "--wait")).stdout).toBe(
        "pool py replaced\npool py is ready\n",
      );
      expect((await pool()).id).not.toBe(id);
      expect((await run(...shell("echo $VERSION"))).stdout).toBe("2\n");
      expect([await first.ended, first.text()]).toEqual([0, "up\n1\n"]);
      await until(() => !left().includes(id));
      expect((await scene.ctl("apply", "-f", scene.file("none.json", poolText({ name: "other" })), "--prune")).stdout).toBe(
        "pool other created\npool py is being removed\n",
      );
      await until(async () => (await http(scene.socket, "GET", "/v1/pools/py")).status === 404);
      expect((await scene.ctl("delete", "--all")).stdout).toContain("pool other deleted");
      expect(left()).toEqual([]);
    },
    LONGEST_MS,
  );

  test(
    "why no container can be made is told, and when it can be again; requests that wait get the reason",
    async () => {
      await scene.daemon();
      const own = join(scene.directory, "own-rootfs");
      expect((await scene.ctl("apply", "-f", poolFile({ rootfs: own }))).status).toBe(0);
      await until(async () => (await pool()).state === "failing");
      expect((await pool()).failing).toMatchObject({ code: "ENOENT", message: expect.stringContaining(own) });
      expect(await run(...shell("true"))).toMatchObject({
        status: 126,
        stderr: expect.stringContaining("no container of the pool py can be made"),
      });
      expect((await scene.ctl("apply", "-f", poolFile({ rootfs: own }), "--wait")).stderr).toContain("pool py is not ready");
      execFileSync("cp", ["-ax", scene.rootfs(), own]);
      await until(async () => (await pool()).state === "ready");
      await parked(2);
      expect((await run(...shell("echo back"))).stdout).toBe("back\n");
      renameSync(own, `${own}.away`);
      expect((await run(...shell("true"))).status).toBe(126);
      renameSync(`${own}.away`, own);
      await until(async () => (await pool()).failing === null);
      const states = (await eventsOf(scene.socket, 0)).filter(({ data }) => data["type"] === "pool").map(({ data }) => data["state"]);
      expect(states.slice(0, 3)).toEqual(["added", "failing", "recovered"]);
      await scene.ctl("pool", "delete", "py");
      expect(left()).toEqual([]);
    },
    LONGEST_MS,
  );

  test.skipIf(!HAS_PROGRAMS)(
    "a pool of an image: its variables and its command, read-only and as nobody of the host, also after a kill; its layers stay while the pool is there",
    async () => {
      const first = await scene.daemon();
      const layout = join(scene.directory, "layout");
      writeLayout(layout, {
        layers: [baseLayer()],
        config: { Env: ["FROM=image", "PATH=/bin"], Entrypoint: ["/bin/sh", "-c"], Cmd: ["echo $FROM in $(pwd)"], WorkingDir: "/etc" },
      });
      const text = poolText({ rootfs: undefined, image: `oci:${layout}:v1` });
      const applied = await scene.ctl("apply", "-f", scene.file("image.json", text), "--wait");
      expect(applied).toEqual({ status: 0, stdout: "pool py created\npool py is ready\n", stderr: "" });
      expect((await run()).stdout).toBe("image in /etc\n");
      const script = "touch /x; cat /proc/self/uid_map; id -u";
      const refused = await run("--", "/bin/sh", "-c", script);
      expect(refused.stderr).toContain("Read-only");
      const [, host] = /^ +0 +(\d+) +65536\n65534\n$/.exec(refused.stdout) ?? [];
      expect(Number(host)).toBeGreaterThanOrEqual(0x7000_0000);
      await parked(2);
      await first.kill();
      await scene.daemon();
      await parked(2);
      expect(await pool()).toMatchObject({ adopted: 2, refills: 0 });
      expect(JSON.parse((await http(scene.socket, "POST", "/v1/images/prune", {})).text).removed).toEqual([]);
      expect((await run()).stdout).toBe("image in /etc\n");
      await scene.ctl("pool", "delete", "py");
      expect(left()).toEqual([]);
      expect(readFileSync("/proc/self/mountinfo", "utf8")).not.toContain(`${scene.directory}/run/pools-`);
    },
    LONGEST_MS,
  );
});
