/** Identity, capabilities, program, HOME and what the program inherits. */
import { spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { MESSAGES, type OpArgs } from "../../src/shared/protocol/index.ts";
import { makeRootfs, type Outcome, runPlan } from "../support/helper.ts";
import { init, intermediate, type TestOp } from "../support/pack.ts";
import { CLONE_NEW, container, NAMESPACES, type Parts, PROC } from "../support/plans.ts";
import { isRoot, VARIANTS } from "../support/variants.ts";

const ENOENT = 2;
const EACCES = 13;
const RLIMIT_CORE = 4;
const RLIMIT_NOFILE = 7;

describe.skipIf(!isRoot).each(VARIANTS)("process: %s", (_, options) => {
  let root: string;
  beforeEach(() => {
    root = makeRootfs();
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  type Extra = Partial<Parts> & { readonly driver?: readonly string[] };
  function run(process: readonly TestOp[], script: string, { driver = [], ...parts }: Extra = {}): Outcome {
    return runPlan(container({ root, process, script, ...parts }), { ...options, driver });
  }
  function output(process: readonly TestOp[], script: string, parts: Extra = {}): string[] {
    const { error, stdout, stderr } = run(process, script, parts);
    expect(error).toBeUndefined();
    expect(stderr).toBe("");
    return stdout.trimEnd().split("\n");
  }
  const user = (args: Partial<OpArgs<"process.user">> = {}): TestOp =>
    init("process.user", { uid: 1000, gid: 1001, groups: [5, 70_000], setgroups: true, ...args });

  test("user, groups, umask, cwd", () => {
    mkdirSync(join(root, "work"));
    const out = output(
      [init("process.umask", { mask: 0o27 }), init("process.cwd", { path: "/work" }), user()],
      "id; umask; pwd; grep -E 'Groups|NoNewPrivs' /proc/self/status",
      {
        first: [init("hostname.set", { name: "box" })],
      },
    );
    expect(out).toEqual(["uid=1000 gid=1001 groups=5,70000", "0027", "/work", "Groups:\t5 70000 ", "NoNewPrivs:\t0"]);
  });

  test("files made by the helper have exact modes whatever the umask", () => {
    const out = output([init("process.umask", { mask: 0o77 })], "stat -c %a /made/deep; umask", {
      mounts: [PROC, init("directory.create", { path: "/made/deep", mode: 0o775 })],
    });
    expect(out).toEqual(["775", "0077"]);
  });

  test("capabilities: five sets, and a warning for what init does not hold", () => {
    const status = "grep -E 'Cap|NoNew' /proc/self/status | cut -f2";
    const ops = [
      init("process.noNewPrivileges"),
      init("capability.bounding", { mask: 0x421n }),
      user(),
      init("capability.set", { effective: 0x401n, permitted: 0x421n, inheritable: 0x401n, ambient: 0x400n }),
    ];
    expect(output(ops, status)).toEqual([
      "0000000000000401",
      "0000000000000400",
      "0000000000000400",
      "0000000000000421",
      "0000000000000400",
      "1",
    ]);
    const all = (1n << 63n) | 1n;
    const { warnings, stdout } = run([init("capability.set", { effective: all, permitted: all, inheritable: all, ambient: 3n })], status);
    expect(warnings.map(({ text }) => text)).toEqual([
      "capabilities left out of the permitted set: 0x8000000000000000",
      "capabilities left out of the effective set: 0x8000000000000000",
      "capabilities left out of the inheritable set: 0x8000000000000000",
      "capabilities left out of the ambient set: 0x2",
    ]);
    expect(stdout.split("\n")[0]).toBe("0000000000000001");
  });

  test("a user without capabilities has none", () => {
    expect(output([user()], "grep -E 'CapPrm|CapEff' /proc/self/status | cut -f2")).toEqual(["0000000000000000", "0000000000000000"]);
  });

  test("in a user namespace: becomes its root, and only there", () => {
    const out = output([], "id -u; cat /proc/self/uid_map; cat /proc/self/setgroups", {
      namespaces: NAMESPACES | CLONE_NEW.user,
      first: [init("sync.wait", { message: MESSAGES.go }), init("process.becomeRoot"), init("process.deathSignal", { signal: 9 })],
      driver: ["--go", "--map"],
    });
    expect(out[0]).toBe("0");
  });

  test("no descriptor beyond stdio reaches the program, not even one without close-on-exec", () => {
    const plan = container({
      root,
      intermediate: [
        intermediate("proc.open"),
        intermediate("file.open", { path: "/etc", flags: 0, slot: 5 }),
        intermediate("mount.open", { source: "/etc", slot: 6 }),
      ],
      script: "ls /proc/$$/fd; true",
    });
    const { stdout, error } = runPlan(plan, options);
    expect(error).toBeUndefined();
    expect(stdout.trim().split("\n")).toEqual(["0", "1", "2"]);
  });

  test("ignored and blocked signals are reset", () => {
    expect(output([], "grep -E 'SigBlk|SigIgn' /proc/self/status | cut -f2")).toEqual(["0000000000000000", "0000000000000000"]);
  });

  test("the environment is the plan's, with the HOME found", () => {
    writeFileSync(
      join(root, "etc/passwd"),
      "# x\nroot:x:0:0:root:/root:/bin/sh\nbroken\n1000:x:7:7::/seven:\nme:x:1000:1000:Me:/home/me:/bin/sh",
    );
    const home = (uid: number): string | undefined =>
      output([init("process.home", { uid })], "env", { env: ["A=1"] }).find((line) => line.startsWith("HOME="));
    expect([0, 1000, 7, 42].map(home)).toEqual(["HOME=/root", "HOME=/home/me", "HOME=/seven", "HOME=/"]);
    expect(
      output([], "env", { env: ["HOME=/given"] })
        .sort()
        .filter((line) => !/^(PWD|SHLVL|_|OLDPWD)=/.test(line)),
    ).toEqual(["HOME=/given", "PATH=/bin"]);
  });

  test("/etc/passwd may be a link, which is followed inside the root", () => {
    const passwd = join(root, "etc/passwd");
    const real = join(root, "usr/share/defaults");
    mkdirSync(real, { recursive: true });
    writeFileSync(join(real, "passwd"), "root:x:0:0::/linked:\n");
    writeFileSync(join(root, "etc/passwd.real"), "root:x:0:0::/beside:\n");
    symlinkSync("usr/share", join(root, "share"));
    const chain = Array.from({ length: 50 }, (_, index) => `link-${index}`);
    for (const [index, name] of chain.entries()) symlinkSync(chain[index + 1] ?? "passwd.real", join(root, "etc", name));
    for (const [target, home] of [
      ["/usr/share/defaults/passwd", "/linked"],
      ["../usr/share/defaults/passwd", "/linked"],
      ["../../../../share/defaults/passwd", "/linked"],
      ["passwd.real", "/beside"],
      ["./passwd.real", "/beside"],
      ["link-11", "/beside"],
      // More links than the kernel follows, one to itself, nowhere, a directory, a device.
      ["link-0", "/"],
      ["passwd", "/"],
      ["/absent", "/"],
      ["/usr", "/"],
      ["/usr/", "/"],
      ["/dev/null", "/"],
    ] as const) {
      symlinkSync(target, passwd);
      expect([target, ...output([init("process.home", { uid: 0 })], "echo $HOME")]).toEqual([target, home]);
      rmSync(passwd);
    }
    for (const name of ["share", "usr/share", "etc/passwd.real", ...chain.map((link) => `etc/${link}`)])
      rmSync(join(root, name), { recursive: true });
  });

  test("an odd /etc/passwd never holds the container up", () => {
    const passwd = join(root, "etc/passwd");
    for (const make of [
      () => spawnSync("mkfifo", [passwd]),
      () => symlinkSync("/proc/1/environ", passwd),
      () => mkdirSync(passwd),
      () => writeFileSync(passwd, `${"x".repeat(2_000_000)}\nroot:x:0:0::/huge:\n`),
    ]) {
      make();
      expect(output([init("process.home", { uid: 0 })], "echo $HOME")).toEqual(["/"]);
      rmSync(passwd, { recursive: true });
    }
  });

  test("the program: found along PATH or as it is, with the errors execvp would give", () => {
    writeFileSync(join(root, "bin/not-executable"), "");
    mkdirSync(join(root, "bin/directory"));
    mkdirSync(join(root, "other"));
    copyFileSync("/bin/busybox", join(root, "other/echo"));
    symlinkSync("/other/echo", join(root, "tmp/link"));
    const find = (name: string, path = "/nope:/bin:/other"): Outcome =>
      runPlan(
        container({ root, process: [init("process.cwd", { path: "/other" })] }).map((op) =>
          op.op === "process.program"
            ? init("process.program", { name, path })
            : op.op === "process.exec"
              ? init("process.exec", { args: ["echo", "found"], env: [] })
              : op,
        ),
        options,
      );
    for (const [name, path] of [["echo"], ["/bin/echo"], ["./echo"], ["/tmp/link"], ["echo", "::/x"], ["echo", "."]] as const) {
      expect(find(name, path)).toMatchObject({ error: undefined, stdout: "found\n" });
    }
    for (const [name, errno] of [
      ["missing", ENOENT],
      ["/missing", ENOENT],
      ["", ENOENT],
      ["not-executable", EACCES],
      ["/bin/not-executable", EACCES],
      ["directory", EACCES],
      ["/", EACCES],
    ] as const) {
      expect(find(name).error).toMatchObject({ errno, path: name });
    }
    expect(find("echo", "").error).toBeUndefined();
    expect(find("echo", "/nope").error).toMatchObject({ errno: ENOENT });
  });

  test("rlimits, even of no descriptor more than stdio", () => {
    const limits = [
      init("process.rlimit", { resource: RLIMIT_NOFILE, soft: 3n, hard: 3n }),
      init("process.rlimit", { resource: RLIMIT_CORE, soft: 1n, hard: (1n << 64n) - 1n }),
    ];
    const out = output([...limits, user()], "ulimit -n; ulimit -Hc; ulimit -c");
    expect(out[0]).toBe("3");
    expect(out[1]).toBe("unlimited");
  });

  test("a program only root may execute", () => {
    chmodSync(join(root, "bin"), 0o700);
    expect(run([user()], ":").error).toMatchObject({ errno: EACCES, path: "sh" });
  });

  test("a working directory outside of the root is refused (CVE-2024-21626)", () => {
    const opened = [5, 6].map((slot) => intermediate("file.open", { path: "/", flags: 0, slot }));
    const outcomes = Array.from({ length: 16 }, (_, fd) =>
      run([init("process.cwd", { path: `/proc/self/fd/${fd}` })], "stat -c %d:%i . /", { intermediate: opened }),
    );
    expect(
      outcomes.filter(({ error }) => error?.text === "current working directory is outside of the root filesystem").length,
    ).toBeGreaterThanOrEqual(2);
    for (const { stdout } of outcomes.filter(({ error }) => error === undefined)) expect(new Set(stdout.trim().split("\n")).size).toBe(1);
    expect(run([init("process.cwd", { path: "/missing" })], ":").error).toMatchObject({ errno: ENOENT, path: "/missing" });
  });

  test("execve that fails: as a message while someone listens, as one line on stderr after `commit` of a plan that waits", () => {
    const directory = mkdtempSync(join(tmpdir(), "runt-fifo-"));
    const fifo = join(directory, "exec.fifo");
    spawnSync("mkfifo", [fifo]);
    writeFileSync(join(root, "run.sh"), "#!/nope\n", { mode: 0o755 });
    const plan = (wait: boolean): TestOp[] =>
      container({ root, intermediate: wait ? [intermediate("file.open", { path: fifo, flags: 2, slot: 3 })] : [] }).flatMap((op) => {
        if (op.op === "process.program") return [init("process.program", { name: "/run.sh" })];
        if (op.op === "process.exec" && wait) return [init("process.wait"), init("process.exec", { args: ["/run.sh"] })];
        return [op];
      });
    expect(runPlan(plan(false), options)).toMatchObject({ error: { errno: ENOENT, path: "/run.sh", text: "exec" }, stderr: "", status: 1 });
    const waiting = runPlan(plan(true), { ...options, driver: ["--start", fifo] });
    expect(waiting).toMatchObject({ error: undefined, stderr: "exec /run.sh: no such file or directory\n", status: 255 });
    rmSync(directory, { recursive: true });
  });

  test("stdio is given to the user, /dev/null is not", () => {
    const owner = statSync("/dev/null").uid;
    const out = output([init("process.stdioOwner", { uid: owner + 1000 }), user({ groups: [] })], "stat -L -c %u /proc/self/fd/1");
    expect(out[0]).toBe(String(owner + 1000));
    expect(statSync("/dev/null").uid).toBe(owner);
  });
});
