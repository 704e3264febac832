/** A container whose process is given at start (io.runt.template): what may be changed, what is refused, and attacks on the claim. */
import { spawnSync } from "node:child_process";
import {
  closeSync,
  constants,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { RLIMIT } from "../../src/shared/linux/index.ts";
import { type Claim, packClaim } from "../../src/shared/protocol/index.ts";
import type { Config } from "../support/config.ts";
import { call, isRoot, isRunt, useHarness } from "../support/harness.ts";
import { REPOSITORY } from "../support/programs.ts";

const TEMPLATE = "io.runt.template";

describe.skipIf(!isRoot || !isRunt)("a template (needs root)", () => {
  const { bundle, directory, id, ok, root, rootfs, runtime, until } = useHarness();

  const template = (change: (config: Config) => void = () => {}, value = "true") =>
    bundle((config) => {
      config.process.args = ["/bin/sh", "-c", "echo default"];
      Object.assign(config, { annotations: { [TEMPLATE]: value } });
      change(config);
    });

  /** Output goes to a file: the container goes on after create. */
  async function created(path: string): Promise<{ readonly name: string; readonly output: () => string }> {
    const name = id();
    let file = "";
    await ok(["create", "-b", path, name], {
      started: (_, output) => {
        file = output;
      },
    });
    return { name, output: () => readFileSync(file, "utf8") };
  }

  let documents = 0;
  function document(process: object): string {
    const path = join(directory, `process-${++documents}.json`);
    writeFileSync(path, JSON.stringify({ cwd: "/", ...process }));
    return path;
  }

  /** As a program that is not `runt start` writes into the FIFO. */
  function send(name: string, bytes: Uint8Array): void {
    const fd = openSync(join(root, name, "exec.fifo"), constants.O_WRONLY | constants.O_NONBLOCK);
    writeSync(fd, bytes);
    closeSync(fd);
  }
  const claim = (change: Partial<Claim>): Uint8Array =>
    packClaim({ args: ["/bin/sh", "-c", "exit 7"], env: ["PATH=/bin"], cwd: "/", ...change });
  /** What init leaves in the FIFO when it refuses: read when it is gone, for before that it would be taken away from it. */
  async function refusal(name: string, bytes: Uint8Array): Promise<string> {
    const fd = openSync(join(root, name, "exec.fifo"), constants.O_RDWR | constants.O_NONBLOCK);
    writeSync(fd, bytes);
    await until(name, "stopped");
    const text = Buffer.alloc(4096);
    const size = readSync(fd, text);
    closeSync(fd);
    return text.toString("utf8", 0, size);
  }

  const pidOf = (name: string): number => JSON.parse(readFileSync(join(root, name, "state.json"), "utf8")).pid;

  test("start gives args, env and directory; the record says so, and exec goes by it", async () => {
    const { name, output } = await created(template());
    const args = ["/bin/sh", "-c", "echo $GREETING from $(pwd); exec sleep 100"];
    await ok(["start", "--process", document({ args, env: ["PATH=/bin", "GREETING=hello"], cwd: "/tmp" }), name]);
    await until(name, "running");
    await expect.poll(output).toBe("hello from /tmp\n");
    expect(JSON.parse(readFileSync(join(root, name, "claim.json"), "utf8"))).toMatchObject({ args, cwd: "/tmp" });
    expect(await ok(["exec", name, "/bin/sh", "-c", "echo $GREETING from $(pwd)"])).toBe("hello from /tmp\n");
    expect((await runtime(["start", name])).stderr).toContain("already running");
  });

  test("without a document the process of config.json is started; HOME is that of the user", async () => {
    const { name, output } = await created(
      template((config) => {
        config.process.args = ["/bin/sh", "-c", "echo $HOME"];
        config.process.env = ["PATH=/bin"];
      }),
    );
    await ok(["start", name]);
    await until(name, "stopped");
    expect(output()).toMatch(/^\/.*\n$/);
  });

  test("the document may be a pipe, and larger than one", async () => {
    const { name, output } = await created(template());
    const long = Array.from({ length: 2000 }, (_, at) => `V${at}=${"x".repeat(90)}`);
    const args = ["/bin/sh", "-c", "set | grep -c '^V[0-9]'"];
    const input = JSON.stringify({ cwd: "/", args, env: ["PATH=/bin", ...long] });
    await ok(["start", "--process", "/dev/stdin", name], { input });
    await until(name, "stopped");
    expect(output()).toBe("2000\n");
  });

  test.each([
    ["user", { user: { uid: 65534, gid: 0 } }],
    ["capabilities", { capabilities: { bounding: ["CAP_SYS_ADMIN"], effective: ["CAP_SYS_ADMIN"], permitted: ["CAP_SYS_ADMIN"] } }],
    ["noNewPrivileges", { noNewPrivileges: false }],
    ["terminal", { terminal: true }],
    ["oomScoreAdj", { oomScoreAdj: -500 }],
    ["rlimits", { rlimits: [{ type: "RLIMIT_NOFILE", soft: 2048, hard: 1 << 20 }] }],
  ])("the template keeps process.%s", async (field, change) => {
    const path = template((config) => {
      config.process.noNewPrivileges = true;
      config.process.rlimits = [{ type: "RLIMIT_NOFILE", soft: 1024, hard: 1024 }];
    });
    const { name } = await created(path);
    const refused = await runtime(["start", "--process", document({ args: ["/bin/true"], ...change }), name]);
    expect(refused).toMatchObject({ status: 1 });
    expect(refused.stderr).toContain(`process.${field}`);
    // Nothing was done: it can be started still.
    await ok(["start", "--process", document({ args: ["/bin/true"], noNewPrivileges: true }), name]);
  });

  test("a list allows only what it names; limits can be tightened", async () => {
    const narrow = await created(template(() => {}, "args"));
    const refused = await runtime(["start", "--process", document({ args: ["/bin/true"], env: ["A=b"] }), narrow.name]);
    expect(refused.stderr).toContain("process.env: the template does not let start change it");
    await ok(["start", "--process", document({ args: ["/bin/true"] }), narrow.name]);
    const { name, output } = await created(template());
    const rlimits = [{ type: "RLIMIT_NOFILE", soft: 20, hard: 30 }];
    await ok(["start", "--process", document({ args: ["/bin/sh", "-c", "ulimit -Sn; ulimit -Hn"], rlimits }), name]);
    await until(name, "stopped");
    expect(output()).toBe("20\n30\n");
  });

  test.each([
    ["/hooks/startContainer", (config: Config) => Object.assign(config, { hooks: { startContainer: [{ path: "/bin/true" }] } })],
    [`/annotations/${TEMPLATE}`, (config: Config) => Object.assign(config, { annotations: { [TEMPLATE]: "user" } })],
    [
      "/process/noNewPrivileges",
      (config: Config) => {
        config.process.noNewPrivileges = false;
        Object.assign(config.linux, { seccomp: { defaultAction: "SCMP_ACT_ALLOW" } });
      },
    ],
  ])("create refuses what cannot be had: %s", async (pointer, change) => {
    const refused = await runtime([
      "--log-format",
      "json",
      "--log",
      join(directory, "log"),
      "create",
      "-b",
      template((config) => void change(config)),
      id(),
    ]);
    expect(refused.status).toBe(1);
    expect(readFileSync(join(directory, "log"), "utf8")).toContain(pointer);
  });

  test("run and --process without the annotation are refused by name", async () => {
    expect((await runtime(["run", "-b", template(), id()])).stderr).toContain("use create");
    const name = id();
    await ok(["create", "-b", bundle(), name]);
    expect((await runtime(["start", "--process", document({ args: ["/bin/true"] }), name])).stderr).toContain(TEMPLATE);
    await ok(["start", name]);
  });

  test("a program that is not there, and a directory that is not", async () => {
    const missing = await created(template());
    expect((await runtime(["start", "--process", document({ args: ["/nope"] }), missing.name])).stderr).toContain("/nope");
    await until(missing.name, "stopped");
    const nowhere = await created(template());
    const refused = await runtime(["start", "--process", document({ args: ["/bin/true"], cwd: "/nope" }), nowhere.name]);
    expect(refused.stderr).toContain("/nope");
  });

  test("the plan has both halves, and its digest covers the annotation", async () => {
    const path = template();
    const name = id();
    const plan = JSON.parse(await ok(["plan", "-f", "json", "-b", path, name]));
    const names = plan.ops.map(({ op }: { op: string }) => op);
    expect(names).toContain("process.claim");
    expect(names).not.toContain("process.wait");
    expect(names.indexOf("process.exec")).toBeGreaterThan(names.indexOf("process.claim"));
    const config = JSON.parse(readFileSync(join(path, "config.json"), "utf8"));
    writeFileSync(join(path, "config.json"), JSON.stringify({ ...config, annotations: { [TEMPLATE]: "args" } }));
    expect(JSON.parse(await ok(["plan", "-f", "json", "-b", path, name])).digest).not.toBe(plan.digest);
  });

  test("of two who start it at once one alone has it", async () => {
    const { name } = await created(template());
    const file = document({ args: ["/bin/sleep", "100"] });
    const results = await Promise.all(Array.from({ length: 4 }, () => runtime(["start", "--process", file, name])));
    expect(results.filter(({ status }) => status === 0)).toHaveLength(1);
  });

  test("a claim that was interrupted is not taken up by another: the container can only be deleted", async () => {
    const { name } = await created(template());
    writeFileSync(join(root, name, "claim.json"), "{}", { mode: 0o600 });
    send(name, claim({}).subarray(0, 30));
    expect((await runtime(["start", name])).stderr).toContain("another start");
    expect(JSON.parse(await ok(["state", name])).status).toBe("created");
    await ok(["delete", "--force", name]);
  });

  test.each([20, 20_000, 100_000])(
    "init is killed before it has read its process of %i bytes: the start says that the container has stopped",
    async (size) => {
      const { name } = await created(template());
      const pid = pidOf(name);
      process.kill(pid, "SIGSTOP");
      const long = { args: ["/bin/echo", "a".repeat(size)], env: ["PATH=/bin"] };
      const started = runtime(["start", "--process", document(long), name]);
      await expect.poll(() => existsSync(join(root, name, "claim.json"))).toBe(true);
      // The message is in the FIFO a moment after the claim.
      await sleep(200);
      process.kill(pid, "SIGKILL");
      const { status, stderr } = await started;
      expect(status).not.toBe(0);
      expect(stderr).toContain("cannot start a container that has stopped");
    },
  );

  test("only who owns the state may write the message: the FIFO is the owner's alone", async () => {
    const { name } = await created(template());
    expect(statSync(join(root, name, "exec.fifo")).mode & 0o777).toBe(0o600);
  });

  test.each([
    ["a byte of a start that knows no templates", new Uint8Array(1), "a template waits for a process"],
    ["no message", new TextEncoder().encode("RUNx and what else there is, for long enough"), "the message is none"],
    ["another magic number's rest", claim({}).map((byte, at) => (at === 4 ? 9 : byte)), "another version"],
    [
      "an operation that the template does not allow",
      claim({ rlimits: [{ resource: RLIMIT.RLIMIT_NOFILE!, soft: 1n, hard: 1n }] }),
      "does not allow",
    ],
    ["no program", claim({}).map((byte, at) => (at === 12 ? 2 : byte)), "malformed"],
  ])("init refuses %s, and nothing runs", async (_, bytes, words) => {
    const { name } = await created(template(() => {}, "args,env,cwd"));
    expect(await refusal(name, bytes)).toContain(words);
  });

  test("that init refuses is its own defence: without it the message gets through", async () => {
    const name = id();
    const testing = [join(REPOSITORY, "build/testing/runt"), "--root", root];
    const path = template(() => {}, "args");
    const env = { RUNT_DISABLE_DEFENCES: "claim" };
    const made = await call(directory, [...testing, "create", "-b", path, name], { env });
    expect(made).toMatchObject({ status: 0, stderr: "" });
    send(
      name,
      claim({ args: ["/bin/sh", "-c", "ulimit -n; exec sleep 100"], rlimits: [{ resource: RLIMIT.RLIMIT_NOFILE!, soft: 9n, hard: 9n }] }),
    );
    await expect.poll(() => readFileSync(`/proc/${pidOf(name)}/limits`, "utf8")).toMatch(/^Max open files +9 +9 /m);
  });

  test("a limit above the one in force is refused by init itself", async () => {
    const path = template((config) => {
      config.process.rlimits = [{ type: "RLIMIT_NOFILE", soft: 100, hard: 100 }];
    });
    const { name } = await created(path);
    expect(await refusal(name, claim({ rlimits: [{ resource: RLIMIT.RLIMIT_NOFILE!, soft: 200n, hard: 200n }] }))).toContain(
      "only be tightened",
    );
  });

  test("files are written with the container's root and user", async () => {
    const path = template((config) => {
      config.mounts = [...(config.mounts ?? []), { destination: "/data", type: "tmpfs", source: "tmpfs", options: ["mode=1777"] }];
    });
    const content = new TextEncoder().encode("of the caller\n");
    const { name, output } = await created(path);
    const file = { path: "/data/a/b", mode: 0o640, bytes: content.length };
    const message = claim({ args: ["/bin/sh", "-c", "cat /data/a/b; stat -c %a /data/a/b"], files: [file] });
    send(name, new Uint8Array([...message, ...content]));
    await expect.poll(output).toBe("of the caller\n640\n");
  });

  test("a file that cannot be written fails the start, and its bytes are no report", async () => {
    const { name } = await created(template());
    const content = new Uint8Array(100_000).fill(65);
    const path = "/proc/1/nope/file";
    const message = claim({ files: [{ path, mode: 0o600, bytes: content.length }] });
    const child = spawnSync("sh", ["-c", "cat > $1", "sh", join(root, name, "exec.fifo")], {
      input: new Uint8Array([...message, ...content]),
    });
    expect(child.status).toBe(0);
    await until(name, "stopped");
  });

  test("a root that is replaced on the host after the creation is not the container's", async () => {
    const own = join(directory, "own");
    cpSync(rootfs(), own, { recursive: true, verbatimSymlinks: true });
    const { name, output } = await created(
      template((config) => {
        config.root.path = own;
      }),
    );
    renameSync(own, `${own}.moved`);
    mkdirSync(own);
    await ok(["start", "--process", document({ args: ["/bin/sh", "-c", "echo still here"] }), name]);
    await until(name, "stopped");
    expect(output()).toBe("still here\n");
  });
});
