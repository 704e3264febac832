/** validate: what it says is true of create and start, it says all of it, and it changes nothing. */
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import { CHAPTERS, type Entry } from "../../src/runtime/check/catalogue/index.ts";
import type { Config } from "../support/config.ts";
import { exampleConfig } from "../support/example-host.ts";
import { call, isRoot, isRunt, RUNTIME, useHarness } from "../support/harness.ts";
import { ON_TERMINAL } from "../support/on-terminal.ts";

interface Found {
  readonly code: string;
  readonly severity: string;
  readonly pointer: string;
  readonly line: number;
  readonly column: number;
  readonly value?: string;
}

const STRACE = "/usr/bin/strace";

describe.skipIf(!isRoot || !isRunt)("validate (needs root: what it says is tried)", () => {
  const { bundle, directory, id, ok, root, rootfs, runtime } = useHarness();

  async function findings(args: readonly string[], input?: string): Promise<readonly Found[]> {
    const { stdout, stderr } = await runtime(["validate", "-f", "json", ...args], input === undefined ? {} : { input });
    expect(stderr).toBe("");
    return JSON.parse(stdout).findings;
  }
  const codes = async (path: string, ...more: string[]) =>
    (await findings(["-b", path, ...more])).map(({ code, pointer }) => `${code} ${pointer}`);

  function rewritten(change: (text: string) => string | Buffer): string {
    const path = bundle();
    const file = join(path, "config.json");
    writeFileSync(file, change(readFileSync(file, "utf8")));
    return path;
  }

  test.each(["hello", "shell", "limited", "containerd"])("the sample %s is clean", async (sample) => {
    const path = bundle(() => {}, sample);
    expect(await runtime(["validate", "--fail-on", "advice", "-b", path])).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^0 errors, 0 warnings \(live host, cgroup v[12]\)\n$/),
      stderr: "",
    });
    expect(await ok(["validate", "--quiet", "-b", path])).toBe("");
  });

  test("exit status, levels, and what cannot be read", async () => {
    const path = bundle((config) => Object.assign(config, { annotations: { owner: "me" } }));
    const status = async (...args: string[]) => (await runtime(["validate", "-q", ...args])).status;
    expect(await status("-b", path)).toBe(0);
    expect(await status("--fail-on", "warning", "-b", path)).toBe(0);
    expect(await status("--fail-on", "advice", "-b", path)).toBe(1);
    expect(await status("--fail-on", "nothing", "-b", path)).toBe(2);
    expect(await status("-f", "yaml", "-b", path)).toBe(2);
    expect(await status("-b", join(directory, "absent"))).toBe(2);
    expect(await status(join(directory, "absent.json"))).toBe(2);
    expect(await status("--host", join(directory, "absent.json"), "-b", path)).not.toBe(0);
  });

  test("a bundle, a file, standard input", async () => {
    const path = bundle((config) => Object.assign(config.process, { cwd: "tmp" }));
    const config = readFileSync(join(path, "config.json"), "utf8");
    const expected = ["cwd-relative"];
    for (const args of [["-b", path], [path], [join(path, "config.json")], ["-b", path, "-"], ["--host", "none", "-"]])
      expect((await findings(args, config)).map(({ code }) => code)).toEqual(expected);
    const { stdout } = await runtime(["validate", "-b", path]);
    const lines = config.split("\n");
    const line = lines.findIndex((text) => text.includes('"cwd"')) + 1;
    const column = (lines[line - 1] ?? "").indexOf('"tmp"') + 1;
    expect(stdout.split("\n")[0]).toBe(`error[cwd-relative] ${path}/config.json:${line}:${column}  /process/cwd`);
  });

  test("several files and bundles at once", async () => {
    const wrong = bundle((config) => Object.assign(config.process, { cwd: "tmp" }));
    const right = bundle();
    const both = await runtime(["validate", wrong, join(right, "config.json")]);
    expect(both.status).toBe(1);
    expect(both.stdout).toContain(`error[cwd-relative] ${wrong}/config.json`);
    expect(both.stdout).toMatch(/^1 error, 0 warnings in 2 files \(/m);
    expect((await runtime(["validate", right, right])).status).toBe(0);
    const documents = JSON.parse((await runtime(["validate", "-f", "json", wrong, right])).stdout);
    expect(documents.map(({ file, counts }: { file: string; counts: { error: number } }) => [file, counts.error])).toEqual([
      [`${wrong}/config.json`, 1],
      [`${right}/config.json`, 0],
    ]);
    const { results } = JSON.parse((await runtime(["validate", "-f", "sarif", wrong, right])).stdout).runs[0];
    expect(results).toHaveLength(1);
    // One that is not there does not hide what is wrong with another.
    const absent = await runtime(["validate", wrong, join(directory, "absent.json")]);
    expect(absent.status).toBe(2);
    expect(absent.stdout).toContain("cwd-relative");
    expect(absent.stderr).toContain("absent.json: no such file");
  });

  test("all of it at once", async () => {
    const path = bundle((config) => {
      Object.assign(config, { hostName: "x", hooks: { prestart: [{ path: "hook" }] } });
      Object.assign(config.process, {
        cwd: "tmp",
        args: ["nothing-like-this"],
        oomScoreAdj: 2000,
        rlimits: [{ type: "NOFILE", soft: 1, hard: 1 }],
      });
      config.mounts.push(
        { destination: "/x", type: "tmpfs", options: ["noexce", "size=1x"] },
        { destination: "/y", type: "bind", source: "/no/where", options: ["rbind"] },
      );
    });
    const found = await codes(path);
    for (const code of [
      "field-case",
      "hook-path-relative",
      "cwd-relative",
      "program-missing",
      "oom-score-range",
      "rlimit-unknown",
      "mount-option-unknown",
      "mount-option-value",
      "mount-source-missing",
    ])
      expect(found.map((line) => line.split(" ")[0])).toContain(code);
    const again = await codes(path);
    expect(again).toEqual(found);
  });

  test("the text: bytes, byte order mark, rest, duplicates", async () => {
    expect(await codes(rewritten((text) => Buffer.from(text.replace('"/bin/', '"/b\u00ffn/'), "latin1")))).toEqual(["config-encoding "]);
    expect(await codes(rewritten((text) => `\ufeff${text}`))).toEqual(["byte-order-mark "]);
    expect(await codes(rewritten((text) => `${text} {}`))).toEqual(["trailing-data "]);
    expect(await codes(rewritten((text) => text.replace('"cwd":', '"cwd": "/tmp", "cwd":')))).toEqual(["field-duplicate /process/cwd"]);
    expect(await codes(rewritten(() => ""))).toEqual(["config-syntax "]);
    expect(await codes(rewritten(() => "[".repeat(100_000)))).toEqual(["config-syntax "]);
  });

  test("create takes capabilities as a plain list, as validate says", async () => {
    const path = bundle((config) => {
      Object.assign(config.process, { capabilities: ["CAP_KILL", "CAP_CHOWN"], args: ["/bin/sh", "-c", "grep Cap /proc/self/status"] });
    });
    expect(await codes(path)).toEqual(["capabilities-list /process/capabilities"]);
    const status = await ok(["run", "-b", path, id()]);
    for (const set of ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"]) expect(status).toMatch(new RegExp(`^${set}:\\t0*21$`, "m"));
  });

  test("documents have their schema", async () => {
    const schema = new Ajv2020({ strict: false }).compile(JSON.parse(await ok(["schema", "findings"])));
    for (const change of [() => {}, (config: Config) => Object.assign(config.process, { cwd: "tmp", args: [] })]) {
      const { stdout } = await runtime(["validate", "-f", "json", "-b", bundle(change)]);
      expect(schema(JSON.parse(stdout)), JSON.stringify(schema.errors)).toBe(true);
    }
  });

  test("a hostile root filesystem is looked at from inside, and blocks nothing", async () => {
    const tree = join(directory, "hostile");
    for (const name of ["bin", "etc"]) mkdirSync(join(tree, name), { recursive: true });
    symlinkSync("/../../../../../../../../bin/sh", join(tree, "bin/sh"));
    symlinkSync("loop", join(tree, "bin/loop"));
    await call(directory, ["/usr/bin/mkfifo", join(tree, "bin/pipe")]);
    symlinkSync("/proc/self/fd/0", join(tree, "bin/magic"));
    const with_ = (program: string) =>
      bundle((config) => {
        config.root.path = tree;
        Object.assign(config.process, { args: [program] });
      });
    for (const program of ["/bin/sh", "/bin/loop"]) expect(await codes(with_(program))).toEqual(["program-missing /process/args/0"]);
    // The container's procfs is not there yet, and the host's is not asked.
    expect(await codes(with_("/bin/magic"))).toEqual([]);
    expect(await codes(with_("/bin/pipe"))).toEqual(["program-kind /process/args/0"]);
  });

  // A process of the host that the examples are about: here it may be any, in the host's own namespaces.
  const joins = (changes: object) => JSON.stringify(Object.values(changes)).includes('"/proc/');
  // The others are about a host that is not this one, or about the text.
  const isOfThisHost = ({ example }: Entry) =>
    !example.facts && !example.files && !example.rootless && !example.systemd && !example.text && !joins(example.broken);
  const source = join(directory, "data");
  // Mount targets are made in it.
  const tree = join(directory, "tree");

  // Chapter by chapter: all 200 at once say nothing for ten minutes where the machine is an emulated one (test/guest).
  test.each(CHAPTERS)("%s: an error keeps create or start from working, anything else does not", async (_, chapter) => {
    mkdirSync(source, { recursive: true });
    if (!existsSync(tree)) cpSync(rootfs(), tree, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
    const wrong: string[] = [];
    const ofThisHost = Object.entries(chapter).filter(([, entry]) => isOfThisHost(entry));
    expect(ofThisHost).not.toEqual([]);
    for (const [code, { example }] of ofThisHost) {
      const path = bundle((config) => {
        const changed = exampleConfig(example, example.broken) as Config;
        for (const key of Object.keys(config)) delete (config as unknown as Record<string, unknown>)[key];
        Object.assign(config, changed);
        if (changed.root?.path === "rootfs") config.root.path = tree;
        if (changed.process?.args?.[0] === "sh") changed.process.args = ["sh", "-c", "true"];
        for (const mount of changed.mounts ?? []) if (mount.source === "/srv/data") mount.source = source;
      });
      const found = await findings(["-b", path]);
      // Some have no mount namespace of their own.
      const run = ["unshare", "--mount", "--propagation", "private", RUNTIME, "--root", root, "run", "-b", path, id()];
      const hasTerminal = JSON.parse(readFileSync(join(path, "config.json"), "utf8")).process?.terminal === true;
      const command = hasTerminal ? [...ON_TERMINAL, ...run] : run;
      const { status, stderr } = await call(directory, command);
      const refused = status !== 0;
      if (refused !== found.some(({ severity }) => severity === "error"))
        wrong.push(
          `${code}: run ends with ${status} (${stderr.trim()}), found ${found.map((one) => `${one.severity} ${one.code} ${one.pointer}`).join(", ")}`,
        );
    }
    expect(wrong.filter((line) => !NOT_SAID.some((code) => line.startsWith(`${code}:`)))).toEqual([]);
  });

  /**
   * What only the attempt can tell: real time needs a bandwidth of the cgroup, a filesystem may come with a module, and under 256 KiB it
   * is chance whether the kernel finds the pages that it keeps aside for each processor (of 100 starts 16 are killed, with crun as well;
   * all are when the program has to be read from the disk). And a program that may not end starts all the same.
   */
  const NOT_SAID = ["scheduler-nice-ignored", "mount-type-unknown", "memory-small", "seccomp-blocks-end"];

  test("nothing is changed and no process is made", async () => {
    const path = bundle((config) => Object.assign(config.process, { cwd: "tmp" }), "limited");
    const log = join(directory, "strace.log");
    for (const args of [
      ["-b", path],
      ["-b", path, "--host", "none"],
      ["-b", path, "-f", "sarif"],
    ]) {
      await call(directory, [STRACE, "-f", "-o", log, RUNTIME, "validate", ...args]);
      const calls = readFileSync(log, "utf8")
        .split("\n")
        .map((line) => /^\d+ +(\w+)\((.*)/.exec(line))
        .filter((match) => match !== null);
      // A limit that is only read changes nothing.
      const names = new Set(
        calls.filter(([line]) => !/ (prlimit64\(\S+ \S+ NULL,|ioctl\(\d+, (TCGETS|TIOCGWINSZ))/.test(line)).map(([, name]) => name ?? ""),
      );
      expect([...names].filter((name) => CHANGING.test(name))).toEqual([]);
      const writes = calls.filter(([, name]) => name === "write").map(([, , rest]) => rest?.split(",")[0]);
      expect(writes.every((fd) => fd === "1")).toBe(true);
      const opens = calls.filter(([, name, rest]) => /^open(at2?)?$/.test(name ?? "") && /O_(WRONLY|RDWR|CREAT|TRUNC)/.test(rest ?? ""));
      expect(opens).toEqual([]);
    }
  });
});

/** Of system calls: what changes the machine. (The first execve is that of the program itself.) */
const CHANGING =
  /^(mount|umount2|move_mount|open_tree|fsopen|fsconfig|fsmount|mount_setattr|pivot_root|chroot|unshare|setns|clone3?|v?fork|mkdir(at)?|rmdir|unlink(at)?|rename(at2?)?|link(at)?|symlink(at)?|mknod(at)?|f?chmod(at2?)?|[fl]?chown(at)?|l?setxattr|kill|bpf|sethostname|prlimit64|ptrace|ioctl)$/;
