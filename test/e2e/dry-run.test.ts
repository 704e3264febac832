/** plan, check, diff, inspect and schema: what they say is true, and they change nothing. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import { hasControllers } from "../support/cgroups.ts";
import type { Config } from "../support/config.ts";
import { call, isRoot, isRunt, RUNTIME, shell, useHarness } from "../support/harness.ts";

const STRACE = "/usr/bin/strace";
/** System calls that make or change mounts, namespaces, cgroups and files. */
const FORBIDDEN =
  /^\d+ +(mount|umount2|move_mount|open_tree|fsopen|fsconfig|fsmount|fspick|mount_setattr|pivot_root|chroot|unshare|setns|clone|clone3|fork|vfork|execve|mkdir|mkdirat|rmdir|unlink|unlinkat|rename|renameat|renameat2|link|linkat|symlink|symlinkat|mknod|mknodat|chmod|fchmod|fchmodat|chown|fchown|fchownat|lchown|setxattr|kill|bpf(?!\(BPF_(PROG_QUERY|PROG_GET_FD_BY_ID|OBJ_GET_INFO_BY_FD),)|sethostname|prlimit64(?!\(\S+ \S+ NULL,)|ptrace)\(/;

const digestOf = (plan: string): string => /^# (sha256:[0-9a-f]{64}), \d+ operations$/m.exec(plan)?.[1] ?? "";

describe.skipIf(!isRoot || !isRunt)("dry runs", () => {
  const { bundle, directory, id, ok, root, runtime, until } = useHarness();
  const source = () => {
    const path = join(directory, `source-${Math.random().toString(36).slice(2)}`);
    mkdirSync(path);
    return path;
  };
  const staying = (change: (config: Config) => void = () => {}) =>
    bundle((config) => {
      shell(config, "sleep 60");
      change(config);
    }, "limited");

  async function schema(name: string) {
    return new Ajv2020({ strict: false }).compile(JSON.parse(await ok(["schema", name])));
  }

  test("a plan is no wider than 100 columns, begins with its digest, and says the same again", async () => {
    const path = staying();
    const text = await ok(["plan", "-b", path, "c"]);
    for (const line of text.split("\n")) expect(line.length).toBeLessThanOrEqual(100);
    expect(digestOf(text)).not.toBe("");
    expect(await ok(["plan", "-b", path, "c"])).toBe(text);
    expect(digestOf(await ok(["plan", "-b", path, "d"]))).not.toBe(digestOf(text));
    expect(digestOf(await ok(["plan", "--explain", "-b", path, "c"]))).toBe(digestOf(text));
    expect(await ok(["plan", "-f", "mermaid", "-b", path, "c"])).toMatch(/^flowchart TB\n/);
    const { status, stderr } = await runtime(["plan", "-f", "yaml", "-b", path]);
    expect([status, stderr]).toEqual([1, 'runt: invalid format "yaml": use text, json or mermaid\n']);
  });

  test("--out has what would be printed", async () => {
    const path = staying();
    const file = join(directory, "out.plan");
    expect(await ok(["plan", "--out", file, "-b", path, "c"])).toBe("");
    expect(readFileSync(file, "utf8")).toBe(await ok(["plan", "-b", path, "c"]));
    expect((await runtime(["plan", "--out", join(directory, "no/such"), "-b", path])).status).toBe(1);
  });

  test("check --measure says how long a move into a cgroup takes, and leaves none", async () => {
    const command = `echo $$; exec ${RUNTIME} check --measure -f json`;
    const { stdout, status } = await call(directory, ["sh", "-c", command]);
    expect(status).toBe(0);
    const [pid, ...rest] = stdout.split("\n");
    const document = JSON.parse(rest.join("\n"));
    const valid = await schema("check");
    expect(valid(document), JSON.stringify(valid.errors)).toBe(true);
    const { medianMicroseconds, fastestMicroseconds, hierarchies } = document.cgroupMoves;
    expect(fastestMicroseconds).toBeGreaterThan(0);
    expect(medianMicroseconds).toBeGreaterThanOrEqual(fastestMicroseconds);
    expect(hierarchies).toBe(document.cgroup.hierarchies.length);
    // find fails if a cgroup of somebody else goes while it looks.
    expect(spawnSync("find", ["/sys/fs/cgroup", "-name", `runt-check-${pid}`], { encoding: "utf8" }).stdout).toBe("");
  });

  test("facts recorded here give the plan that is made here, byte for byte", async () => {
    const file = join(directory, "facts.json");
    writeFileSync(file, await ok(["check", "-f", "json"]));
    for (const sample of ["hello", "limited", "containerd"]) {
      const path = bundle(() => {}, sample);
      for (const more of [[], ["-f", "json"], ["--explain"]]) {
        expect(await ok(["plan", "--host", file, ...more, "-b", path, "c"])).toBe(await ok(["plan", ...more, "-b", path, "c"]));
      }
    }
    const unit = bundle((config) => {
      config.linux.cgroupsPath = "system.slice:test:c";
    }, "limited");
    const [live, recorded] = [["plan"], ["plan", "--host", file]].map((words) => runtime(["--systemd-cgroup", ...words, "-b", unit, "c"]));
    expect((await recorded!).stdout).toBe((await live!).stdout);
  });

  test.skipIf(!hasControllers)("facts of another host give that host's plan, whatever this one is", async () => {
    const path = staying();
    const facts = JSON.parse(await ok(["check", "-f", "json"]));
    const unified = { mountpoint: "/elsewhere", controllers: ["cpu", "memory", "pids"], writable: true };
    const file = join(directory, "other.json");
    writeFileSync(file, JSON.stringify({ ...facts, cgroup: { version: 2, hierarchies: [unified], files: [] } }));
    const plan = await ok(["plan", "--host", file, "-b", path, "c"]);
    expect(plan).toContain("/elsewhere/");
    expect(plan).toContain("memory.max = ");
    expect(plan).not.toContain("/sys/fs/cgroup/memory");
    expect(await ok(["plan", "--host", "none", "-b", path, "c"])).toContain("memory.max = ");
  });

  test.each([
    ["no such file", () => "/no/such", "open /no/such: no such file or directory"],
    ["no JSON", () => "not json", ":1:1: expected a value"],
    ["another version", () => '{"hostFacts":2}', "version 2 of the document, 1 is known"],
    ["a field is missing", () => '{"hostFacts":1}', "/recordedBy: required but missing"],
    ["no document", () => "[]", "not a document of host facts"],
  ])("facts are refused: %s", async (_, content, words) => {
    const text = content();
    const file = text.startsWith("/") ? text : join(directory, "bad.json");
    if (!text.startsWith("/")) writeFileSync(file, text);
    const { status, stderr } = await runtime(["plan", "--host", file, "-b", staying()]);
    expect(status).toBe(1);
    expect(stderr).toContain(words);
  });

  test("create does the plan that is expected, keeps its digest, and nothing before it has compared", async () => {
    const [name, place] = [id(), source()];
    const path = staying((config) => config.mounts.push({ destination: "/mnt", type: "bind", source: place, options: ["bind"] }));
    const file = join(directory, "expected.plan");
    await ok(["plan", "-f", "json", "--out", file, "-b", path, name]);
    const digest = digestOf(await ok(["plan", "-b", path, name]));
    expect(JSON.parse(readFileSync(file, "utf8")).digest).toBe(digest);

    // The same name, another directory: the former one keeps its inode.
    renameSync(place, `${place}.before`);
    mkdirSync(place);
    for (const [expected, words] of [
      [digest, `not ${digest} as expected`],
      [file, `/source ${place} is another file`],
    ] as const) {
      const { status, stderr } = await runtime(["create", "--expect-plan", expected, "-b", path, name]);
      expect(status).toBe(1);
      expect(stderr).toContain(words);
      expect(existsSync(join(root, name))).toBe(false);
    }
    const now = digestOf(await ok(["plan", "-b", path, name]));
    await ok(["create", "--expect-plan", now, "-b", path, name]);
    expect(JSON.parse(await ok(["inspect", name])).planDigest).toBe(now);
  });

  test("another config.json is another plan, even where it makes none", async () => {
    const path = staying();
    const name = id();
    const digest = digestOf(await ok(["plan", "-b", path, name]));
    writeFileSync(join(path, "config.json"), `${readFileSync(join(path, "config.json"), "utf8")}\n`);
    const { status, stderr } = await runtime(["run", "--detach", "--expect-plan", digest, "-b", path, name]);
    expect([status, stderr]).toEqual([1, expect.stringContaining("as expected")]);
    const { stderr: usage } = await runtime(["create", "--expect-plan", "sha256:12", "-b", path, name]);
    expect(usage).toContain("64 hexadecimal digits");
  });

  test("the documents are as their schemas have them", async () => {
    const path = staying();
    const name = id();
    await ok(["create", "-b", path, name]);
    for (const [document, args] of [
      ["plan", ["plan", "-f", "json", "-b", path, "c"]],
      ["check", ["check", "-f", "json"]],
      ["inspect", ["inspect", name]],
      ["state", ["state", name]],
    ] as const) {
      const validate = await schema(document);
      const value = JSON.parse(await ok(args));
      expect([document, validate(value), validate.errors]).toEqual([document, true, null]);
    }
    const broken = bundle((config) => {
      config.process.cwd = "relative";
      config.linux.namespaces.push({ type: "pid" });
    });
    const { stdout } = await runtime(["validate", "-f", "json", "-b", broken]);
    const findings = await schema("findings");
    expect([findings(JSON.parse(stdout)), findings.errors]).toEqual([true, null]);
    expect(JSON.parse(stdout).findings.length).toBeGreaterThan(1);
    expect(JSON.parse(await ok(["schema"]))).toEqual(JSON.parse(await ok(["schema", "config"])));
    expect((await schema("config"))(JSON.parse(readFileSync(join(path, "config.json"), "utf8")))).toBe(true);
    expect((await runtime(["schema", "nothing"])).stderr).toContain('there is no schema "nothing"');
  });

  test.skipIf(!hasControllers)("inspect finds nothing in a container as it was made, and what was changed behind its back", async () => {
    const name = id();
    await ok(["create", "-b", staying(), name]);
    await ok(["start", name]);
    await until(name, "running");
    const look = async () =>
      JSON.parse(await ok(["inspect", name])) as { settings: { name: string; drift: boolean; kernel?: string }[]; drift: number };
    const before = await look();
    expect(before.settings.filter(({ drift }) => drift)).toEqual([]);
    for (const setting of ["pids.max", "pid", "user", "no_new_privs", "/proc"]) {
      expect(before.settings.find((row) => row.name === setting)?.kernel).toBeDefined();
    }

    const { cgroup } = JSON.parse(await ok(["inspect", name])) as { cgroup: { paths: string[] } };
    const file = cgroup.paths.map((path) => `${path}/pids.max`).find((path) => existsSync(path))!;
    writeFileSync(file, "11");
    const { settings, drift } = await look();
    expect(drift).toBe(1);
    expect(settings.find((row) => row.drift)).toMatchObject({ name: "pids.max", kernel: "11" });
    expect(await ok(["inspect", "-f", "text", name])).toMatch(/pids\.max +\d+ +11 +DRIFT\n/);

    await ok(["update", "--pids-limit", "12", name]);
    expect((await look()).drift).toBe(0);
    await ok(["delete", "--force", name]);
    expect((await runtime(["inspect", name])).stderr).toContain("container does not exist");
  });

  test.each([
    ["createRuntime", "runtime"],
    ["createContainer", "init"],
  ])("inspect tells in which operation a create hangs: a %s hook", async (kind, actor) => {
    const name = id();
    const path = staying((config) => {
      config["hooks"] = { [kind]: [{ path: "/bin/sleep", args: ["sleep", "30"] }] };
    });
    let kill = () => {};
    const creating = call(directory, [RUNTIME, "--root", root, "create", "-b", path, name], {
      // Which ends the hook as well.
      started: (child) => (kill = () => child.kill("SIGTERM")),
    });
    try {
      const operations = async () => JSON.parse((await runtime(["inspect", name])).stdout || "{}").operations ?? [];
      await expect
        .poll(async () => (await operations()).find((row: { op: string }) => row.op === "hook.run"), { interval: 50 })
        .toMatchObject({ actor, op: "hook.run" });
      const plan = JSON.parse(await ok(["plan", "-f", "json", "-b", path, name])) as { ops: { op: string }[] };
      for (const { number, op } of (await operations()) as { number: number; op: string }[]) expect(plan.ops[number - 1]?.op).toBe(op);
      expect(await ok(["inspect", "-f", "text", name])).toMatch(/in operation \d+ hook\.run /);
    } finally {
      kill();
      await creating;
    }
  });

  test("diff: 0 for equal settings, 1 for others, 2 when it cannot tell", async () => {
    const [one, same] = [staying(), staying()];
    writeFileSync(join(same, "config.json"), JSON.stringify(JSON.parse(readFileSync(join(one, "config.json"), "utf8"))));
    const other = staying((config) => {
      config.process.env.push("A=1=2");
      config.mounts.find(({ destination }) => destination === "/dev")!.options!.push("noexec");
    });
    expect(await runtime(["diff", one, same])).toEqual({ status: 0, stdout: "", stderr: "" });
    const { status, stdout } = await runtime(["diff", one, other]);
    expect([status, stdout]).toEqual([1, expect.stringContaining("env A\n  + 1=2\n")]);
    expect(stdout).toMatch(
      /^mount \/dev\n {2}- tmpfs from tmpfs \(nosuid, .*\)\n {2}\+ tmpfs from tmpfs \(nosuid, noexec, .*\)\n {2}options: \+noexec$/m,
    );
    const json = JSON.parse((await runtime(["diff", "-f", "json", one, other])).stdout) as { differences: { setting: string }[] };
    expect(json.differences.map(({ setting }) => setting)).toEqual(["cgroupsPath", "env A", "mount /dev"]);
    expect((await runtime(["diff", one, join(directory, "no/such")])).status).toBe(2);

    const name = id();
    await ok(["create", "-b", one, name]);
    expect((await runtime(["diff", one, name])).status).toBe(0);
    // A later change of the bundle does not concern the container.
    writeFileSync(join(one, "config.json"), readFileSync(join(other, "config.json"), "utf8"));
    expect((await runtime(["diff", same, name])).status).toBe(0);
    expect((await runtime(["diff", one, name])).status).toBe(1);
  });

  test.skipIf(!existsSync(STRACE))("none of them changes anything", async () => {
    const path = staying();
    const name = id();
    await ok(["create", "-b", path, name]);
    for (const args of [
      ["plan", "-b", path, "c"],
      ["plan", "--explain", "--host", "none", "-b", path, "c"],
      ["check"],
      ["check", "-f", "json"],
      ["diff", path, name],
      ["inspect", name],
      ["schema", "plan"],
    ]) {
      const output = join(directory, "dry.strace");
      const { status } = await call(directory, [STRACE, "-f", "-y", "-o", output, RUNTIME, "--root", root, ...args]);
      expect([args[0], status]).toEqual([args[0], 0]);
      const lines = readFileSync(output, "utf8").split("\n").slice(1);
      expect(lines.filter((line) => FORBIDDEN.test(line))).toEqual([]);
      // Where systemd runs, it is asked.
      expect(lines.filter((line) => /^\d+ +p?writev?(64)?\((?![12]<|\d+<socket:)/.test(line))).toEqual([]);
      expect(lines.filter((line) => /open(at2?)?\(.*O_(WRONLY|RDWR|CREAT|TRUNC)/.test(line))).toEqual([]);
    }
  });
});
