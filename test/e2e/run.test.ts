/** run: exit statuses, stdio, signals, detach and keep. */
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { isRoot, shell, useHarness } from "../support/harness.ts";

describe.skipIf(!isRoot)("run (needs root)", () => {
  const { bundle, directory, id, ok, runtime, until } = useHarness();

  test.each([
    ["exit 0", 0],
    ["exit 7", 7],
    ["exit 255", 255],
  ])("%s", async (command, status) => {
    const result = await runtime(["run", "-b", bundle((config) => shell(config, command)), id()]);
    expect(result).toEqual({ status, stdout: "", stderr: "" });
  });

  test("a program killed by a signal ends with 128 + signal", async () => {
    const name = id();
    const begun = join(directory, `begun-${name}`);
    mkdirSync(begun);
    const path = bundle((config) => {
      shell(config, "echo > /begun/it; exec sleep 60");
      config.mounts.push({ destination: "/begun", type: "bind", source: begun, options: ["rbind"] });
    });
    const running = runtime(["run", "-b", path, name]);
    // The state is "running" a moment before the program begins, and `run` of one that never began ends with 1.
    await expect.poll(() => existsSync(join(begun, "it"))).toBe(true);
    await ok(["kill", name, "KILL"]);
    expect((await running).status).toBe(137);
  });

  test("stdin, stdout and stderr are the caller's", async () => {
    const path = bundle((config) => shell(config, "cat; echo err >&2"));
    const result = await runtime(["run", "-b", path, id()], { input: "from the caller\n" });
    expect(result).toEqual({ status: 0, stdout: "from the caller\n", stderr: "err\n" });
  });

  test("the bundle is the current directory by default", async () => {
    const path = bundle((config) => shell(config, "echo here"));
    expect(await ok(["run", id()], { cwd: path })).toBe("here\n");
  });

  test("nothing is left after a foreground run, and the id can be used again", async () => {
    const name = id();
    const path = bundle((config) => shell(config, "true"));
    await ok(["run", "-b", path, name]);
    expect((await runtime(["state", name])).stderr).toContain("does not exist");
    await ok(["run", "-b", path, name]);
  });

  test("--keep leaves the stopped container to be deleted", async () => {
    const name = id();
    const result = await runtime(["run", "--keep", "-b", bundle((config) => shell(config, "exit 5")), name]);
    // runc 1.1.0 and later know the flag.
    expect(result.status).toBe(5);
    expect(JSON.parse(await ok(["state", name])).status).toBe("stopped");
    await ok(["delete", name]);
  });

  test("--detach returns while the program runs", async () => {
    const name = id();
    const pidFile = join(directory, name);
    await ok(["run", "--detach", "--pid-file", pidFile, "-b", bundle((config) => shell(config, "exec sleep 60")), name]);
    await until(name, "running");
    expect(readFileSync(`/proc/${readFileSync(pidFile, "utf8")}/comm`, "utf8")).toMatch(/sleep|sh|busybox/);
    await ok(["kill", name, "KILL"]);
    await until(name, "stopped");
    await ok(["delete", name]);
  });

  test.each(["SIGTERM", "SIGINT", "SIGHUP", "SIGUSR1"] as const)("%s to the foreground runtime reaches the program", async (signal) => {
    const name = id();
    const trap = signal.slice(3);
    const path = bundle((config) => shell(config, `trap 'echo got ${trap}; exit 9' ${trap}; echo ready; while :; do sleep 0.02; done`));
    let send = () => {};
    let said = "";
    const running = runtime(["run", "-b", path, name], {
      started: (child, output) => {
        said = output;
        send = () => child.kill(signal);
      },
    });
    await expect.poll(() => readFileSync(said, "utf8"), { interval: 20 }).toBe("ready\n");
    send();
    expect(await running).toEqual({ status: 9, stdout: `ready\ngot ${trap}\n`, stderr: "" });
  });

  test("orphans of the container do not outlive it", async () => {
    const result = await runtime(["run", "-b", bundle((config) => shell(config, "sleep 60 & exit 2")), id()]);
    expect(result.status).toBe(2);
  });

  test("many short containers one after the other all end with their status", async () => {
    const path = bundle((config) => shell(config, "exit 3"));
    const name = id();
    for (let round = 0; round < 10; round++) expect((await runtime(["run", "-b", path, name])).status).toBe(3);
  });
});
