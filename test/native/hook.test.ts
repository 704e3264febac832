/** hook.run as init does it, and the attributes of the security modules. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type OpArgs, SLOT } from "../../src/shared/protocol/index.ts";
import { makeRootfs, type Outcome, runPlan } from "../support/helper.ts";
import { init, intermediate, type TestOp } from "../support/pack.ts";
import { container, type Parts, PROC } from "../support/plans.ts";
import { isRoot, VARIANTS } from "../support/variants.ts";

describe.skipIf(!isRoot).each(VARIANTS)("hooks: %s", (_, options) => {
  let root: string;
  beforeEach(() => {
    root = makeRootfs();
    mkdirSync(join(root, "out"), { mode: 0o777 });
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  const read = (name: string) => readFileSync(join(root, "out", name), "utf8");
  const hook = (script: string, args: Partial<OpArgs<"hook.run">> = {}): TestOp =>
    init("hook.run", {
      kind: "startContainer",
      path: "/bin/sh",
      args: ["sh", "-c", script],
      env: ["PATH=/bin"],
      statePrefix: "<",
      stateSuffix: ">",
      ...args,
    });
  const run = (parts: Partial<Parts>, more = {}): Outcome => runPlan(container({ root, ...parts }), { ...options, ...more });
  /** The hook stands where the program will. */
  const inside = (script: string, args: Partial<OpArgs<"hook.run">> = {}, process: readonly TestOp[] = []) =>
    run({ process: [init("process.cwd", { path: "/" }), ...process, hook(script, args)], script: "echo program" });

  test("gets the state with the pid on stdin, its argv, its environment, and stdio alone", () => {
    const script = [
      "cat > /out/state",
      "env > /out/env",
      "ls /proc/self/fd > /out/fds",
      "echo $0 $1 > /out/args",
      "umask > /out/umask",
      "grep -E 'Sig(Blk|Ign)' /proc/self/status > /out/signals; true",
    ].join("; ");
    const args = ["sh", "-c", script, "zero", "one"];
    const { error, stdout, stderr } = inside("", { args }, [init("process.umask", { mask: 0o27 })]);
    expect(error).toBeUndefined();
    expect({ stdout, stderr }).toEqual({ stdout: "program\n", stderr: "" });
    expect(read("state")).toBe("<1>");
    expect(read("args")).toBe("zero one\n");
    expect(read("umask")).toBe("0027\n");
    // The fourth is of ls itself.
    expect(read("fds")).toBe("0\n1\n2\n3\n");
    expect(
      read("env")
        .trim()
        .split("\n")
        .filter((line) => !/^(PWD|SHLVL|_)=/.test(line)),
    ).toEqual(["PATH=/bin"]);
    expect(read("signals").replaceAll(/\s+/g, " ")).toBe("SigBlk: 0000000000000000 SigIgn: 0000000000000000 ");
  });

  test("the HOME found and the environment of the helper", () => {
    writeFileSync(join(root, "etc/passwd"), "me:x:1000:1000:Me:/home/me:/bin/sh");
    const home = [init("process.home", { uid: 1000 })];
    expect(inside("echo $HOME$MARK > /out/home", { home: true }, home).error).toBeUndefined();
    expect(read("home")).toBe("/home/me\n");
    const own = hook("echo $MARK > /out/mark", { inheritEnv: true });
    expect(run({ process: [init("process.cwd", { path: "/" }), own] }, { env: { MARK: "here", PATH: "/bin" } }).error).toBeUndefined();
    expect(read("mark")).toBe("here\n");
  });

  test("before the pivot it runs the host's programs, in the directory of a slot", () => {
    const script = `pwd > ${root}/out/pwd; test -e /usr/bin && echo host >> ${root}/out/pwd`;
    const { error } = run({ mounts: [PROC, hook(script, { kind: "createContainer", directory: SLOT.ROOT })] });
    expect(error).toBeUndefined();
    expect(read("pwd")).toBe(`${root}\nhost\n`);
  });

  test("a status other than 0 is an error with what it said", () => {
    const { error, stdout, status } = inside("echo out; echo err >&2; exit 7", { index: 3 });
    expect(error?.text).toBe("error running startContainer hook #3: exit status 7, stdout: out, stderr: err");
    expect({ stdout, status }).toEqual({ stdout: "", status: 1 });
  });

  test("killed by a signal, not there, not executable", () => {
    expect(inside("kill -9 $$").error?.text).toBe("error running startContainer hook #0: signal: killed, stdout: , stderr: ");
    expect(inside("", { path: "/absent" }).error?.text).toBe(
      "error running startContainer hook #0: exec /absent: no such file or directory",
    );
    expect(inside("", { path: "/etc" }).error?.text).toBe("error running startContainer hook #0: exec /etc: permission denied");
  });

  test("a time-out kills it, what it left behind does not count", () => {
    expect(inside("exec sleep 30", { timeout: 1 }).error?.text).toBe(
      "error running startContainer hook #0: hook ran past specified timeout of 1.0s",
    );
    const begin = Date.now();
    expect(inside("sleep 12 & exit 0", { timeout: 20 }).error).toBeUndefined();
    expect(Date.now() - begin).toBeLessThan(10_000);
  });

  test("large input and output", () => {
    const statePrefix = "x".repeat(1_000_000);
    expect(inside("wc -c > /out/size", { statePrefix }).error).toBeUndefined();
    expect(read("size").trim()).toBe("1000002");
    expect(inside("exec true", { statePrefix }).error).toBeUndefined();
    const { error } = inside("head -c 300000 /bin/busybox; head -c 300000 /bin/busybox >&2; cat > /dev/null", { statePrefix });
    expect(error).toBeUndefined();
    const failed = inside("i=0; while [ $i -lt 2000 ]; do echo oooo; echo eeee >&2; i=$((i+1)); done; exit 1");
    expect(failed.error?.text).toMatch(
      /^error running startContainer hook #0: exit status 1, stdout: (oooo\n){819}o, stderr: (eeee\n){819}e$/,
    );
  });

  test("an LSM attribute goes to the process's own file; the error names it as Podman expects", () => {
    const label = (file: string, fallback: string) =>
      run({
        intermediate: [intermediate("proc.open")],
        process: [init("process.cwd", { path: "/" }), init("label.set", { file, fallback, value: "exec none" })],
      });
    // Without a security module the kernel has the files and refuses what is written (EINVAL).
    const exec = label("exec", "");
    expect(exec.error).toMatchObject({ path: "exec none", text: "write to `/proc/self/attr/exec`", errno: 22 });
    expect(label("absent/exec", "exec").error).toMatchObject({ text: "write to `/proc/self/attr/exec`", errno: 22 });
    expect(label("absent", "").error).toMatchObject({ text: "write to `/proc/self/attr/absent`", errno: 2 });
  });
});
