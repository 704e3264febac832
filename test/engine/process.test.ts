/** What a container's program is given: user, rights, name, limits of its own; as /proc has it. */
import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { allPrinted } from "../support/log-file.ts";
import { REPOSITORY } from "../support/programs.ts";
import { namespaceOf, statusOf } from "./kernel-files.ts";
import { http, isRoot, until, useEngine } from "./support.ts";
import { type ContainerText, SLEEP, taskText } from "./tasks.ts";

const NET_BIND_SERVICE = 1n << 10n;
const CHOWN = 1n << 0n;

describe.skipIf(!isRoot)("the program of a container (needs root)", () => {
  const scene = useEngine();
  const task = async () => JSON.parse((await http(scene.socket, "GET", "/v1/tasks/t")).text);
  const apply = async (containers: readonly ContainerText[], fields: Readonly<Record<string, unknown>> = {}) =>
    http(scene.socket, "POST", "/v1/apply", { text: taskText(scene.rootfs(), "t", containers, fields) });
  const run = async (...given: Parameters<typeof apply>) => {
    expect((await apply(...given)).text).toContain("created");
    await until(async () => /RUNNING|STOPPED/.test((await task()).known));
    expect(await task()).toMatchObject({ known: "RUNNING" });
  };
  const listed = (name: string) => scene.list().find(({ id, status }) => id.includes(`.${name}-`) && status === "running")!;

  test("E48: a container has the user, working directory, environment, capabilities and hostname of its task, and a read-only root", async () => {
    await scene.daemon();
    await run([
      {
        name: "user",
        script: `touch /x 2>/dev/null || echo read-only; ${SLEEP}`,
        fields: { user: "1234:99", cwd: "/tmp", env: { A: "b=c", EMPTY: "" }, hostname: "other", readonlyRootfs: true },
      },
      { name: "root", fields: { capabilities: { drop: ["CAP_CHOWN"], add: ["CAP_NET_RAW"] } } },
      { name: "bare", fields: { capabilities: { drop: ["ALL"], add: ["CAP_NET_BIND_SERVICE"] }, noNewPrivileges: false } },
    ]);
    const user = listed("user").pid;
    expect(statusOf(user)).toMatchObject({
      Uid: "1234\t1234\t1234\t1234",
      Gid: "99\t99\t99\t99",
      CapEff: "0000000000000000",
      NoNewPrivs: "1",
    });
    const environment = readFileSync(`/proc/${user}/environ`, "utf8").split("\0");
    expect(environment).toEqual(expect.arrayContaining(["A=b=c", "EMPTY="]));
    expect(execFileSync("readlink", [`/proc/${user}/cwd`], { encoding: "utf8" })).toMatch(/\/tmp\n$/);
    expect(execFileSync("nsenter", ["-t", String(user), "-u", "hostname"], { encoding: "utf8" })).toBe("other\n");
    const { log } = (await task()).containers[0];
    await until(() => allPrinted(log) === "read-only\n");
    const root = BigInt(`0x${statusOf(listed("root").pid)["CapBnd"]}`);
    expect([root & CHOWN, root & NET_BIND_SERVICE, root & (1n << 13n)]).toEqual([0n, NET_BIND_SERVICE, 1n << 13n]);
    expect(statusOf(listed("bare").pid)).toMatchObject({ CapBnd: "0000000000000400", NoNewPrivs: "0" });
  });

  test("E48: validate has no findings for the configuration of a container", async () => {
    await scene.daemon();
    const limits = { cpus: 0.5, cpuShares: 100, memory: "64Mi", memoryReservation: "32Mi", pids: 20 };
    const fields = { ...limits, user: "1:2", env: { A: "b" }, mounts: [{ volume: "v", target: "/v" }], hostname: "h" };
    await run([{ name: "a", fields }], { volumes: [{ name: "v", host: "/usr" }], cpus: 1, memory: "128Mi", pids: 50 });
    const kept = join(scene.directory, "kept");
    mkdirSync(kept);
    copyFileSync(join(scene.stateDir, "executors", listed("a").id, "config.json"), join(kept, "config.json"));
    expect((await scene.ctl("delete", "t")).status).toBe(0);
    expect(execFileSync(join(REPOSITORY, "bin/runt"), ["validate", kept], { encoding: "utf8" })).not.toMatch(/^(error|warning)/m);
  });

  test("E58 E66 E86: agents run in a container beside its program; a killed agent is started again, and a missing one changes nothing", async () => {
    const first = await scene.daemon();
    const backoff = { initial: "100ms", maximum: "200ms" };
    const agents = [
      { name: "side", command: ["/bin/sh", "-c", "exec sleep $HOW"], env: { HOW: "1000" }, backoff },
      { name: "missing", command: ["/nowhere/agent"], backoff },
    ];
    await run([{ name: "a", fields: { agents } }]);
    const agent = async (name: string) => (await task()).containers[0].agents.find((one: { name: string }) => one.name === name);
    await until(async () => (await agent("side"))?.pid > 0 && (await agent("missing")) !== undefined);
    expect(await agent("missing")).toMatchObject({
      known: "STOPPED",
      pid: null,
      restarts: 0,
      reason: expect.stringContaining("/nowhere/agent"),
    });
    const { pid } = await agent("side");
    expect(readFileSync(`/proc/${pid}/cmdline`, "utf8")).toBe("sleep\x001000\0");
    expect(namespaceOf(pid, "mnt")).toBe(namespaceOf(listed("a").pid, "mnt"));
    process.kill(pid, "SIGKILL");
    await until(async () => (await agent("side")).restarts === 1 && (await agent("side")).pid > 0);
    expect((await task()).containers[0]).toMatchObject({ known: "RUNNING", restarts: 0 });
    // What an earlier daemon has started ends with it: the next one starts its own.
    const before = (await agent("side")).pid as number;
    await first.kill();
    await scene.daemon();
    await until(async () => (await agent("side")).pid > 0 && (await agent("side")).pid !== before);
    // A first process that looks after nobody leaves it as a zombie, without a command line.
    expect(existsSync(`/proc/${before}`) ? readFileSync(`/proc/${before}/cmdline`, "utf8") : "").toBe("");
    expect((await task()).containers[0].generation).toBe(1);
    const events = (await scene.ctl("events", "t")).stdout;
    expect(events).toContain(`agent side of container a RUNNING, pid ${pid}`);
    expect(events).toMatch(/agent side of container a STOPPED: it has ended with 137/);
    expect(events).toMatch(/agent missing of container a STOPPED: .*\/nowhere\/agent/);
    await scene.ctl("stop", "t");
    await until(async () => (await task()).known === "STOPPED");
    expect(await agent("side")).toMatchObject({ known: "STOPPED", pid: null });
    expect((await scene.ctl("describe", "t")).stdout).toMatch(/Agent: +side STOPPED/);
  });

  test("a user by name; one that the container does not know stops the task with its name", async () => {
    await scene.daemon();
    const passwd = readFileSync(join(scene.rootfs(), "etc/passwd"), { encoding: "utf8", flag: "a+" });
    const name = passwd
      .split("\n")
      .find((line) => !line.startsWith("root:") && line.split(":").length > 3)
      ?.split(":")[0];
    await run([{ name: "a", fields: { user: name ?? "0" } }]);
    if (name !== undefined) {
      const uid = passwd
        .split("\n")
        .find((line) => line.startsWith(`${name}:`))!
        .split(":")[2];
      expect(statusOf(listed("a").pid)["Uid"]).toMatch(new RegExp(`^${uid}\t`));
    }
    expect((await scene.ctl("delete", "t")).status).toBe(0);
    await apply([{ name: "a", fields: { user: "nobody-knows" } }]);
    await until(async () => (await task()).known === "STOPPED");
    expect((await task()).reason).toContain("nobody-knows");
    expect(scene.list()).toEqual([]);
  });

  test("E59: annotations name the owner of a container; a task cannot set the annotations of the engine", async () => {
    await scene.daemon();
    await run([{ name: "a", fields: { annotations: { "com.example": "mine" } } }]);
    const { id, digest } = await task();
    const state = JSON.parse(
      execFileSync(join(REPOSITORY, "bin/runt"), ["--root", join(scene.stateDir, "executors/@runtime"), "state", listed("a").id], {
        encoding: "utf8",
      }),
    );
    expect(state.annotations).toEqual({
      "com.example": "mine",
      "org.runt.task": id,
      "org.runt.group": "default",
      "org.runt.container": "a",
      "org.runt.generation": "1",
      "org.runt.spec-digest": digest,
    });
    const refused = await http(scene.socket, "POST", "/v1/apply", {
      text: taskText(scene.rootfs(), "u", [{ name: "a", fields: { annotations: { "org.runt.task": "x" } } }]),
    });
    expect([refused.status, refused.text]).toEqual([422, expect.stringContaining("are set by the engine")]);
  });

  test("E63 E89: if the program is missing, the task stops, reports it once, and nothing is left", async () => {
    await scene.daemon();
    await apply([{ name: "a", fields: { command: "/no/such/program" } }]);
    await until(async () => (await task()).known === "STOPPED");
    expect((await task()).reason).toMatch(/could not be started: .*\/no\/such\/program/);
    expect((await task()).containers[0]).toMatchObject({ exit: null, startedMs: null });
    expect(scene.list()).toEqual([]);
  });
});
