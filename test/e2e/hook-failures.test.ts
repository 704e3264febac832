/** Hooks that fail, take too long, print much or die: what is said of them, and what is left. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { CGROUPS } from "../support/cgroups.ts";
import { isRoot, isRunt, shell, useHarness } from "../support/harness.ts";
import { KINDS, type Kind, script, useHooks } from "../support/hooks.ts";
import { CGROUP_PARENT } from "../support/leaks.ts";

describe.skipIf(!isRoot || !isRunt)("hooks that misbehave (needs root)", () => {
  const harness = useHarness();
  const { id, ok, root, runtime } = harness;
  const { all, log, note, order, read, state, withHooks } = useHooks(harness);

  test.each(KINDS.slice(0, 5))("a failing %s hook: error, nothing left, program not started or stopped, poststop run", async (kind) => {
    const name = id();
    const marker = kind === "startContainer" ? "/log" : log();
    const fail = script(`echo some output; echo some error >&2; echo ${kind} >> ${marker}/order; exit 3`);
    const never = script(`echo never >> ${marker}/order`);
    const path = withHooks({ [kind]: [script("true"), fail, never], poststop: [note("poststop")] });
    const created = await runtime(["create", "-b", path, name]);
    const result = kind === "startContainer" || kind === "poststart" ? await runtime(["start", name]) : created;
    expect(result.status).toBe(1);
    expect(result.stderr).toContain(`error running ${kind} hook #1: exit status 3, stdout: some output, stderr: some error`);
    expect((await runtime(["state", name])).stderr).toContain("does not exist");
    expect(order().filter((line) => line !== "program")).toEqual([kind, "poststop"]);
    if (kind !== "poststart") expect(order()).not.toContain("program");
    expect(state("poststop").status).toBe("stopped");
  });

  test.each(KINDS.slice(0, 5))("run fails with a failing %s hook", async (kind) => {
    const name = id();
    const path = withHooks({ [kind]: [script("exit 4")], poststop: [note("poststop")] });
    const result = await runtime(["run", "-b", path, name]);
    expect(result.status).toBe(1);
    expect(result.stderr).toContain(`error running ${kind} hook #0: exit status 4, stdout: , stderr: `);
    expect((await runtime(["state", name])).stderr).toContain("does not exist");
    expect(order().filter((line) => line !== "program")).toEqual(["poststop"]);
  });

  test.each([
    ["9", "signal: killed"],
    ["11", "signal: segmentation fault"],
    ["31", "signal: bad system call"],
  ])("a createRuntime hook that signal %s ends is named by it", async (number, words) => {
    const result = await runtime(["run", "-b", withHooks({ createRuntime: [script(`kill -${number} $$`)] }), id()]);
    expect(result.stderr).toContain(`error running createRuntime hook #0: ${words}, stdout: , stderr: `);
  });

  test("poststop hooks all run after everything is removed; a failure is told, and delete succeeds", async () => {
    const name = id();
    const look = note("poststop", `ls -d ${join(root, name)}; ls -d ${CGROUPS}/*${CGROUP_PARENT} ${CGROUPS}${CGROUP_PARENT}`);
    const path = withHooks({ poststop: [script("echo out; echo err >&2; exit 5"), look] });
    await ok(["create", "-b", path, name]);
    const result = await runtime(["delete", name]);
    expect(result.status).toBe(0);
    expect(result.stdout).toBe("");
    expect(result.stderr).toBe("runt: warning: error running poststop hook #0: exit status 5, stdout: out, stderr: err\n");
    expect(read("poststop.out")).toMatch(/^(ls: .*(No such file|cannot access).*\n)+$/);
  });

  test.each(["createRuntime", "createContainer", "startContainer", "poststart"] as const)(
    "a %s hook that takes too long is killed",
    async (kind) => {
      const name = id();
      const path = withHooks({ [kind]: [script("exec sleep 60", { timeout: 1 })] });
      const begin = Date.now();
      const created = await runtime(["create", "-b", path, name]);
      const result = kind === "startContainer" || kind === "poststart" ? await runtime(["start", name]) : created;
      expect(result.status).toBe(1);
      expect(result.stderr).toContain(`error running ${kind} hook #0: hook ran past specified timeout of 1.0s`);
      expect(Date.now() - begin).toBeGreaterThanOrEqual(990);
      expect(Date.now() - begin).toBeLessThan(50_000);
    },
  );

  test("hooks that read nothing of a long state, write much, or leave a process behind harm nobody", async () => {
    const name = id();
    const idle = { path: "/bin/true" };
    const chatty = script("head -c 1000000 /dev/zero; head -c 1000000 /dev/zero >&2");
    const path = withHooks(
      {
        prestart: [idle, chatty],
        createContainer: [idle, chatty],
        startContainer: [idle, chatty],
        poststart: [idle, chatty],
        poststop: [idle, script(`sleep 60 & echo $! > ${log()}/left`)],
      },
      (config) => {
        config.annotations = { long: "x".repeat(300_000) };
        shell(config, "exec sleep 60");
      },
    );
    await ok(["create", "-b", path, name]);
    await ok(["start", name]);
    await ok(["delete", "--force", name]);
    // It was not waited for.
    process.kill(Number(read("left")), "SIGKILL");
  });

  test("a hook that reads all of a long state gets it whole", async () => {
    const name = id();
    const path = withHooks(all(), (config) => {
      config.annotations = { long: "y".repeat(300_000) };
      shell(config, "exec sleep 60");
    });
    await ok(["create", "-b", path, name]);
    await ok(["start", name]);
    for (const kind of KINDS.slice(0, 5)) expect(state(kind as Kind).annotations.long.length, kind).toBe(300_000);
  });

  test("output in the message is bounded", async () => {
    for (const kind of ["createRuntime", "createContainer"] as const) {
      const path = withHooks({
        [kind]: [script("head -c 100000 /dev/zero | tr '\\0' o; head -c 100000 /dev/zero | tr '\\0' e >&2; exit 1")],
      });
      const { stderr } = await runtime(["create", "-b", path, id()]);
      expect(stderr).toContain(`stdout: ${"o".repeat(4096)}, stderr: ${"e".repeat(4096)}`);
    }
  });

  test("a hook that is not there", async () => {
    for (const kind of ["createRuntime", "createContainer", "startContainer"] as const) {
      const name = id();
      const path = withHooks({ [kind]: [{ path: "/no/such/hook" }] });
      const result = await runtime(["run", "-b", path, name]);
      expect(result.status).toBe(1);
      expect(result.stderr).toContain(`error running ${kind} hook #0: exec /no/such/hook: no such file or directory`);
    }
  });

  test("SIGKILL to the runtime during a hook leaves what delete --force removes", async () => {
    const name = id();
    const path = withHooks({
      createRuntime: [script(`echo $PPID > ${log()}/ppid; touch ${log()}/ready; exec sleep 2`)],
      poststop: [note("poststop")],
    });
    const creating = runtime(["create", "-b", path, name]);
    await expect.poll(() => existsSync(join(log(), "ready")), { interval: 10 }).toBe(true);
    process.kill(Number(read("ppid")), "SIGKILL");
    expect((await creating).status).toBe(137);
    await ok(["delete", "--force", name]);
    expect(order()).toEqual(["poststop"]);
    await sleep(2_000);
  });
});
