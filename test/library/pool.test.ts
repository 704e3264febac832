/** Pools of containers that wait for their program: what a box gets, what it is bounded by, who has it, and that nothing crosses from one to the next. */
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { describe, expect, test } from "vitest";
import { ExecutorError, Pool, type PoolEvent, type PoolOptions, ProgramError, sandbox, toConfig } from "../../src/executor/index.ts";
import { program, REPOSITORY } from "../support/programs.ts";
import { isRoot, RUNT, useExecutors } from "./support.ts";

/** Runs of the property; `make test-pool-long` takes more. */
const RUNS = Number(process.env["POOL_RUNS"] ?? 6);

describe.skipIf(!isRoot)("a pool (needs root)", () => {
  const { directory, rootfs, ownRootfs } = useExecutors();
  let pools = 0;

  function options(change: Partial<PoolOptions> = {}): PoolOptions {
    return { template: sandbox({ rootfs: rootfs() }), size: 2, stateDir: join(directory, `pool-${++pools}`), binary: RUNT, ...change };
  }
  const shell = (script: string) => ({ cmd: "/bin/sh", args: ["-c", script] });

  test("a run has its args, env, directory, input and files, and its output and status come back", async () => {
    await using pool = await Pool.open(options());
    const result = await pool.run({
      ...shell('echo "$NAME in $(pwd)"; cat; cat /tmp/a/data; stat -c %a /tmp/a/data; echo wrong >&2; exit 3'),
      env: { NAME: "box" },
      cwd: "/",
      stdin: "input\n",
      files: { "/tmp/a/data": { content: "file\n", mode: 0o600 } },
    });
    expect(result.stdout.toString()).toBe("box in /\ninput\nfile\n600\n");
    expect(result.stderr.toString()).toBe("wrong\n");
    expect(result).toMatchObject({ exitCode: 3, endedBy: "itself", unknown: false });
  });

  test("input goes on while the program runs, and its output up to a number of bytes is passed on", async () => {
    await using pool = await Pool.open(options());
    await using box = await pool.take({ ...shell("while read line; do echo got $line; done; exit 4"), stdin: "first\n", openStdin: true });
    let text = "";
    const copied = (async () => {
      for await (const chunk of box.output("stdout", 100)) text += chunk;
    })();
    await expect.poll(() => text).toBe("got first\n");
    box.stdin!.write("second\n");
    await expect.poll(() => text).toBe("got first\ngot second\n");
    box.stdin!.end();
    expect(await box.wait()).toMatchObject({ exitCode: 4, endedBy: "itself" });
    await copied;
    await using loud = await pool.take(shell("while :; do echo yyyyyyyyy; done"));
    expect(loud.stdin).toBeUndefined();
    let size = 0;
    for await (const chunk of loud.output("stdout", 105)) size += chunk.length;
    expect([size, (await loud.wait()).endedBy, loud.endedBy]).toEqual([105, "output", "output"]);
  });

  test("a pool that is left keeps its waiting containers for the next one; discard ends all of them", async () => {
    const asked = options();
    const first = await Pool.open(asked);
    await expect.poll(() => first.stats().parked).toBe(2);
    first.leave();
    await expect(first.take(shell("exit 0"))).rejects.toMatchObject({ code: "wrong-state" });
    const second = await Pool.open(asked);
    expect(second.stats()).toMatchObject({ adopted: 2, parked: 2, refills: 0, waits: 0 });
    await second.take(shell("sleep 1000"));
    await expect(Pool.discard(asked)).rejects.toMatchObject({ code: "wrong-state" });
    second.leave();
    await Pool.discard(asked);
    expect(readdirSync(join(asked.stateDir, "boxes")).filter((name) => !name.startsWith("@"))).toEqual([]);
  });

  test("a box is single-use, and leaves nothing", async () => {
    const asked = options();
    const pool = await Pool.open(asked);
    const ids = new Set<string>();
    for (let run = 0; run < 4; run++) {
      await using box = await pool.take(shell("exit 0"));
      ids.add(box.id);
      await box.wait();
    }
    expect(ids.size).toBe(4);
    expect(pool.stats()).toMatchObject({ takes: 4, taken: 0, failures: 0 });
    await pool.close();
    expect(readdirSync(join(asked.stateDir, "boxes")).filter((name) => !name.startsWith("@"))).toEqual([]);
    await expect(pool.take(shell("exit 0"))).rejects.toMatchObject({ code: "wrong-state" });
  });

  test("a claim does not wait for the container that is made in its place", async () => {
    await using pool = await Pool.open(options({ size: 1 }));
    await expect.poll(() => pool.stats().parked).toBe(1);
    // As far as take goes at once: its message has been sent.
    const taking = pool.take(shell("exit 0"));
    expect(pool.stats()).toMatchObject({ parked: 0, taken: 1, making: 0 });
    await using box = await taking;
    await expect.poll(() => pool.stats().parked).toBe(1);
    expect(await box.wait()).toMatchObject({ exitCode: 0 });
  });

  test("the sandbox: no capability, no network, a read-only root, a filter, and its user is nobody of the host", async () => {
    await using pool = await Pool.open(options());
    const script =
      "grep -E '^(Cap(Inh|Prm|Eff|Bnd|Amb)|NoNewPrivs|Seccomp):' /proc/self/status; cat /proc/self/uid_map; touch /x; ls /sys/class/net; id -u";
    const text = (await pool.run(shell(script))).stdout.toString();
    expect(text.match(/^Cap\w+:\t0{16}$/gm)).toHaveLength(5);
    expect(text).toMatch(/^NoNewPrivs:\t1$/m);
    expect(text).toMatch(/^Seccomp:\t2$/m);
    expect(text).toMatch(/^ +0 1879048192 +65536$/m);
    expect(text).toMatch(/^lo$/m);
    expect(text).not.toMatch(/^eth/m);
    expect(text).toMatch(/^65534$/m);
    expect((await pool.run(shell("touch /x"))).stderr.toString()).toContain("Read-only");
  });

  test("deadline, output, an AbortSignal and kill end all of a box", async () => {
    const template = { ...sandbox({ rootfs: rootfs() }), outputBytes: 10_000 };
    await using pool = await Pool.open(options({ template }));
    // Whether the owner or the monitor is the first.
    for (let round = 0; round < 3; round++)
      expect(await pool.run({ ...shell("sleep 1000 & sleep 1000"), deadlineMs: 100 })).toMatchObject({ endedBy: "deadline", signal: 9 });
    const loud = await pool.run(shell("while :; do echo yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy; done"));
    expect(loud).toMatchObject({ endedBy: "output" });
    expect(loud.stdout).toHaveLength(10_000);
    const stop = new AbortController();
    const box = await pool.take({ ...shell("sleep 1000"), signal: stop.signal });
    stop.abort();
    expect(await box.wait()).toMatchObject({ endedBy: "aborted" });
    await using other = await pool.take(shell("sleep 1000"));
    expect(await other.kill()).toMatchObject({ endedBy: "killed" });
  });

  test("what cannot be is refused by name before a box is used up", async () => {
    await using pool = await Pool.open(options());
    const refusal = (request: object) => pool.take(request as never).catch((error: Error) => error);
    expect(await refusal({ shell: "x" })).toMatchObject({ code: "invalid-argument", details: { field: "shell" } });
    expect(await refusal({ cmd: "/bin/true", resources: { memoryBytes: 2 ** 40 } })).toMatchObject({ code: "invalid-argument" });
    expect(await refusal({ cmd: "/bin/true", files: { relative: "x" } })).toMatchObject({ code: "invalid-argument" });
    expect(await refusal({ args: ["x"] })).toMatchObject({ code: "invalid-argument" });
    expect(pool.stats().takes).toBe(0);
    const missing = await refusal({ cmd: "/nope" });
    expect(missing).toBeInstanceOf(ProgramError);
    expect(missing).toMatchObject({ reason: "not-found" });
    expect(await refusal({ cmd: "/bin/true", cwd: "/nope" })).toMatchObject({ code: "launch-failed" });
    expect(await refusal({ cmd: "/bin/true", files: { "/proc/nope": "x" } })).toMatchObject({ code: "launch-failed" });
  });

  test("callers wait in turn, up to a number, and a signal ends the wait", async () => {
    await using pool = await Pool.open(options({ size: 1, maxTaken: 1, maxWaiting: 1 }));
    await using first = await pool.take(shell("sleep 1000"));
    const stop = new AbortController();
    const second = pool.take({ ...shell("exit 0"), signal: stop.signal });
    await expect(pool.take(shell("exit 0"))).rejects.toMatchObject({ code: "busy" });
    stop.abort();
    await expect(second).rejects.toMatchObject({ code: "aborted" });
    const third = pool.take(shell("exit 0"));
    await first.kill();
    await using box = await third;
    expect(await box.wait()).toMatchObject({ exitCode: 0 });
  });

  test("one process has a pool; the next one takes over what a killed owner has left ready, and ends what it had given out", async () => {
    const asked = options();
    const owning = join(directory, "owner.mts");
    writeFileSync(
      owning,
      `import { Pool } from ${JSON.stringify(join(REPOSITORY, "src/executor/index.ts"))};
const pool = await Pool.open(JSON.parse(process.argv[2]));
await pool.take({ cmd: "/bin/sleep", args: ["1000"] });
const box = await pool.take({ cmd: "/bin/sleep", args: ["1000"], deadlineMs: 2000 });
console.log(box.id);
while (pool.stats().parked < 2) await new Promise((done) => setTimeout(done, 10));
console.log("ready");
setInterval(() => {}, 1000);
`,
    );
    const owner = spawn(process.execPath, ["--import", "tsx", owning, JSON.stringify(asked)], {
      stdio: ["ignore", "pipe", "inherit"],
      cwd: REPOSITORY,
    });
    const [id] = await once(createInterface(owner.stdout), "line");
    await new Promise((done) => owner.stdout.once("data", done));
    await expect(Pool.open(asked)).rejects.toMatchObject({ code: "wrong-state" });
    const ended = new Promise((done) => owner.once("exit", done));
    owner.kill("SIGKILL");
    await ended;
    // Its deadline does not need the owner, nor the next one.
    const record = join(asked.stateDir, "boxes", id, "record.json");
    await expect.poll(() => JSON.parse(readFileSync(record, "utf8")), { timeout: 20_000 }).toMatchObject({ phase: "exited", signal: 9 });
    await using pool = await Pool.open(asked);
    expect(pool.stats()).toMatchObject({ adopted: 2, discarded: 2 });
    expect((await pool.run(shell("echo again"))).stdout.toString()).toBe("again\n");
  });

  test("a parked container that is killed, and a root that is replaced: the next caller has another", async () => {
    const own = ownRootfs();
    await using pool = await Pool.open(options({ template: sandbox({ rootfs: own }) }));
    await expect.poll(() => pool.stats().parked).toBe(2);
    const boxes = join(directory, `pool-${pools}`, "boxes");
    const states = readdirSync(join(boxes, "@runtime")).filter((name) => name.startsWith("b-"));
    const { pid } = JSON.parse(readFileSync(join(boxes, "@runtime", states[0]!, "state.json"), "utf8"));
    process.kill(pid, "SIGKILL");
    expect(await pool.run(shell("exit 5"))).toMatchObject({ exitCode: 5 });
    await expect.poll(() => pool.stats().parked).toBe(2);
    renameSync(own, `${own}.old`);
    mkdirSync(own);
    for (const name of readdirSync(`${own}.old`)) renameSync(join(`${own}.old`, name), join(own, name));
    writeFileSync(join(own, "new-root"), "");
    expect((await pool.run(shell("ls /new-root"))).stdout.toString()).toBe("/new-root\n");
    expect(pool.stats().discarded).toBeGreaterThanOrEqual(2);
    rmSync(`${own}.old`, { recursive: true });
  });

  test("a parked container that somebody else has claimed is not given out", async () => {
    await using pool = await Pool.open(options({ size: 1 }));
    await expect.poll(() => pool.stats().parked).toBe(1);
    const runtime = join(directory, `pool-${pools}`, "boxes", "@runtime");
    const [id] = readdirSync(runtime).filter((name) => name.startsWith("b-"));
    writeFileSync(join(runtime, id!, "claim.json"), "{}", { mode: 0o600 });
    await using box = await pool.take(shell("exit 0"));
    expect(box.id).not.toBe(id);
  });

  test("a template of one's own may be a command", async () => {
    const launch = { rootfs: rootfs(), cmd: "/bin/echo", args: ["of the template"] };
    expect(toConfig(launch, { id: "x", user: { uid: 0, gid: 0, additionalGids: [] }, cgroupVersion: 2 })).toBeDefined();
    await using pool = await Pool.open(options({ template: { launch } }));
    expect((await pool.run()).stdout.toString()).toBe("of the template\n");
  });

  test(`nothing crosses: in ${RUNS} runs each leaves a secret wherever it can, and the next one looks everywhere`, async () => {
    await using pool = await Pool.open(options());
    const secrets = { content: readFileSync(program("secrets")), mode: 0o755 };
    const asked = (script: string, secret: string) => ({
      ...shell(script),
      env: { SECRET: secret },
      stdin: secret,
      files: { "/tmp/given": secret, "/tmp/secrets": secrets },
    });
    const leave = "echo $SECRET | tee /tmp/left /dev/shm/left > /dev/mqueue/left 2>/dev/null; hostname $SECRET 2>/dev/null";
    // The probe finds what one program leaves for another of the same box: else it would find nothing anywhere.
    const same = await pool.run(asked("/tmp/secrets leave here; /tmp/secrets look here", "same"));
    expect(same.stdout.toString()).toBe("shared memory\nmessage queue\nsemaphore\n");
    let last = "none-yet";
    for (let run = 0; run < RUNS; run++) {
      const secret = `s${randomBytes(12).toString("hex")}`;
      // Every other one is killed in the middle of its life.
      if (run % 2 === 1) {
        await using box = await pool.take(asked(`${leave}; echo left; exec /tmp/secrets stay $SECRET`, secret));
        await once(box.stdout, "data");
        await box.kill();
      } else {
        const files = "grep -rslF $last /tmp/left /dev/shm /dev/mqueue /run /var /home";
        const kernel = "grep -hF $last /proc/net/unix /proc/sysvipc/* /proc/[0-9]*/environ 2>/dev/null";
        const look = `last=$(cat /tmp/last); ${files}; ${kernel}; /tmp/secrets look $last; hostname`;
        const request = asked(`${look}; ${leave}; /tmp/secrets leave $SECRET; echo done`, secret);
        const { stdout } = await pool.run({ ...request, files: { ...request.files, "/tmp/last": last } });
        expect(stdout.toString()).toBe("sandbox\ndone\n");
      }
      last = secret;
    }
  });

  test("why no container can be made is told without a caller that waits", async () => {
    const own = ownRootfs();
    const events: PoolEvent[] = [];
    await using pool = await Pool.open(options({ template: sandbox({ rootfs: own }), size: 1, onEvent: (event) => events.push(event) }));
    await expect.poll(() => pool.stats().parked).toBe(1);
    renameSync(own, `${own}.away`);
    await expect(pool.take(shell("exit 0"))).rejects.toMatchObject({ code: "ENOENT" });
    await expect.poll(() => pool.stats().failing).toMatchObject({ code: "ENOENT", message: expect.stringContaining(own) });
    expect(events[0]).toMatchObject({ type: "failing", failure: { code: "ENOENT", times: 1 } });
    renameSync(`${own}.away`, own);
    await expect.poll(() => events.at(-1), { timeout: 20_000 }).toEqual({ type: "recovered" });
    expect(pool.stats().failing).toBeUndefined();
    expect((await pool.run(shell("echo back"))).stdout.toString()).toBe("back\n");
  });

  test("a sandbox may have a command, variables and a directory of its own", async () => {
    const template = sandbox({
      rootfs: rootfs(),
      command: ["/bin/sh", "-c", 'echo "$NAME in $(pwd), $HOME"'],
      env: { NAME: "own" },
      cwd: "/",
    });
    await using pool = await Pool.open(options({ template }));
    expect((await pool.run()).stdout.toString()).toBe("own in /, /tmp\n");
    expect(() => sandbox({ rootfs: "/", command: [] })).toThrow(/command: is empty/);
    expect(() => sandbox({ rootfs: "/", cwd: "x" })).toThrow(/cwd: x is not absolute/);
  });

  test("a pool is refused when it cannot be", async () => {
    await expect(Pool.open({ ...options(), size: 0 })).rejects.toBeInstanceOf(ExecutorError);
    expect(() => sandbox({ rootfs: "relative" })).toThrow(/absolute/);
    expect(() => sandbox({ rootfs: "/", network: "host" as never })).toThrow(/^network: "host": use "none", "outbound" or/);
  });
});
