/** run --detach --exit-record: what the file says at each moment, and what the monitor keeps. */

import { execFileSync, spawn } from "node:child_process";
import { closeSync, constants, existsSync, openSync, readdirSync, readFileSync, readSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { hasControllers } from "../support/cgroups.ts";
import { isRoot, isRunt, RUNTIME, SLOW, shell, useHarness } from "../support/harness.ts";

interface Record {
  readonly phase: string;
  readonly pid: number;
  readonly startTicks: string;
  readonly monitor: { readonly pid: number; readonly startTicks: string };
  readonly [field: string]: unknown;
}

describe.skipIf(!isRoot || !isRunt)("an exit record (needs root)", () => {
  const { bundle, directory, id, ok, root, runtime } = useHarness();
  const file = () => join(directory, `record-${Math.random().toString(36).slice(2)}`);
  const read = (path: string) => JSON.parse(readFileSync(path, "utf8")) as Record;
  const until = (path: string, phase: string) => expect.poll(() => read(path).phase, { interval: 10 }).toBe(phase);
  const isAlive = (pid: number) => existsSync(`/proc/${pid}`) && !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));

  test("running, and then how it ended; nothing is left but the file", async () => {
    const [name, path] = [id(), file()];
    await ok([
      "run",
      "-d",
      "--exit-record",
      path,
      "-b",
      bundle((config) => shell(config, "until [ -e /dev/go ]; do sleep 0.1; done; exit 3")),
      name,
    ]);
    const running = read(path);
    expect(running).toMatchObject({ schema: 1, id: name, root, phase: "running" });
    expect(JSON.parse(await ok(["state", name]))).toMatchObject({ pid: running.pid, status: "running" });
    const stat = readFileSync(`/proc/${running.pid}/stat`, "utf8")
      .replace(/^.*\) /s, "")
      .split(" ");
    expect([Number(stat[1]), stat[19]]).toEqual([running.monitor.pid, running.startTicks]);
    const monitor = readFileSync(`/proc/${running.monitor.pid}/stat`, "utf8")
      .replace(/^.*\) /s, "")
      .split(" ");
    expect([monitor[3], monitor[19]]).toEqual([String(running.monitor.pid), running.monitor.startTicks]);
    // Nothing of the caller's, and little memory.
    for (const fd of ["0", "1", "2"])
      expect(execFileSync("readlink", [`/proc/${running.monitor.pid}/fd/${fd}`], { encoding: "utf8" })).toBe("/dev/null\n");
    expect(Number(/^Rss:\s+(\d+)/m.exec(readFileSync(`/proc/${running.monitor.pid}/smaps_rollup`, "utf8"))?.[1])).toBeLessThan(1024);

    const ending = Date.now();
    writeFileSync(`/proc/${running.pid}/root/dev/go`, "");
    await until(path, "exited");
    expect(read(path)).toMatchObject({ ...running, phase: "exited", code: 3, signal: null, oomKills: 0 });
    expect(read(path)["endedMs"]).toBeGreaterThanOrEqual(ending);
    expect(readdirSync(root)).toEqual([]);
    expect(readdirSync(directory).filter((entry) => entry.startsWith(`${path.split("/").at(-1)}.`))).toEqual([]);
  });

  test("create: the phase is created, and the monitor sees an end that start has begun", async () => {
    const [name, path] = [id(), file()];
    await ok(["create", "--exit-record", path, "-b", bundle((config) => shell(config, "exit 3")), name]);
    const created = read(path);
    expect(created).toMatchObject({ phase: "created", bootId: readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim() });
    expect(JSON.parse(await ok(["state", name]))).toMatchObject({ pid: created.pid, status: "created" });
    await ok(["start", name]);
    await until(path, "exited");
    expect(read(path)).toMatchObject({ ...created, phase: "exited", code: 3, signal: null });
    expect(readdirSync(root)).toEqual([]);
  });

  test("survives its caller and the caller's session", async () => {
    const [name, path] = [id(), file()];
    const caller = spawn(
      "setsid",
      [
        "sh",
        "-c",
        `${RUNTIME} --root ${root} run -d --exit-record ${path} -b ${bundle((config) => shell(config, `sleep ${SLOW}; exit 9`))} ${name}; echo up; sleep 60`,
      ],
      {
        stdio: ["ignore", "pipe", "ignore"],
      },
    );
    await new Promise((resolve) => caller.stdout.once("data", resolve));
    process.kill(-caller.pid!, "SIGKILL");
    await until(path, "exited");
    expect(read(path)).toMatchObject({ code: 9 });
  });

  test.skipIf(!hasControllers)("a signal and the kernel's kills for memory", async () => {
    const [name, path] = [id(), file()];
    const hog = bundle((config) => {
      shell(config, "exec dd if=/dev/zero of=/dev/null bs=64M count=1");
      config.linux.resources = { memory: { limit: 16 << 20 } };
    });
    await ok(["run", "-d", "--exit-record", path, "-b", hog, name]);
    await until(path, "exited");
    expect(read(path)).toMatchObject({ code: 137, signal: 9, oomKills: 1 });
  });

  test("ended is written although something cannot be removed yet, exited is not", async () => {
    const [name, path] = [id(), file()];
    const path2 = bundle((config) => shell(config, "sleep 0.3; exit 5"));
    await ok(["run", "-d", "--keep", "--exit-record", path, "-b", path2, name]);
    await until(path, "ended");
    expect(read(path)).toMatchObject({ code: 5 });
    await expect.poll(() => isAlive(read(path).monitor.pid)).toBe(false);
    expect(read(path).phase).toBe("ended");
    expect(JSON.parse(await ok(["state", name])).status).toBe("stopped");
  });

  test("what fails leaves no file, and one that is there is not touched", async () => {
    const [name, path] = [id(), file()];
    const broken = await runtime([
      "run",
      "-d",
      "--exit-record",
      path,
      "-b",
      bundle((config) => shell(config, "true"), "hello"),
      "--cgroup-parent",
      "relative",
      name,
    ]);
    const absent = await runtime([
      "run",
      "-d",
      "--exit-record",
      path,
      "-b",
      bundle((config) => {
        config.process.args = ["nowhere"];
      }),
      name,
    ]);
    expect([broken.status, absent.status]).toEqual([1, 1]);
    expect(absent.stderr).toContain("executable file not found");
    expect(existsSync(path)).toBe(false);
    writeFileSync(path, "mine");
    const taken = await runtime(["run", "-d", "--exit-record", path, "-b", bundle((config) => shell(config, "true")), name]);
    expect([taken.status, taken.stderr]).toEqual([1, expect.stringContaining("file exists")]);
    expect(readFileSync(path, "utf8")).toBe("mine");
    const foreground = await runtime(["run", "--exit-record", file(), "-b", bundle((config) => shell(config, "true")), name]);
    expect([foreground.status, foreground.stderr]).toEqual([1, expect.stringContaining("--detach")]);
    expect(existsSync(root) ? readdirSync(root) : []).toEqual([]);
  });

  test("FIFOs: no reader, one that goes, and what nobody has read", async () => {
    const [name, path] = [id(), file()];
    const [out, err] = [`${path}-out`, `${path}-err`];
    execFileSync("mkfifo", [out, err]);
    const go = "until [ -e /dev/go ]; do sleep 0.1; done";
    const talker = bundle((config) => shell(config, `echo one; echo problem >&2; ${go}; echo two; exit 1`));
    const command = `exec ${RUNTIME} --root ${root} run -d --exit-record ${path} -b ${talker} ${name} 1<>${out} 2<>${err} </dev/null`;
    execFileSync("sh", ["-c", command]);
    const fd = openSync(out, constants.O_RDONLY | constants.O_NONBLOCK);
    await expect.poll(() => take(fd), { interval: 10 }).toBe("one\n");
    closeSync(fd);
    writeFileSync(`/proc/${read(path).pid}/root/dev/go`, "");
    await until(path, "exited");
    expect(readFileSync(`${path}.stdout`, "utf8")).toBe("two\n");
    expect(readFileSync(`${path}.stderr`, "utf8")).toBe("problem\n");
  });

  test("a full FIFO stops the container, and not its end", async () => {
    const [name, path] = [id(), file()];
    const out = `${path}-out`;
    execFileSync("mkfifo", [out]);
    const talker = bundle((config) => {
      shell(config, "head -c 300000 /dev/zero | tr '\\0' x");
      config.process.terminal = true;
    });
    execFileSync("sh", ["-c", `exec ${RUNTIME} --root ${root} run -d --exit-record ${path} -b ${talker} ${name} 1<>${out} </dev/null`]);
    await sleep(1500 * SLOW);
    expect(read(path).phase).toBe("running");
    await ok(["kill", name, "KILL"]);
    await until(path, "exited");
    // A FIFO of 16 pages is full before it holds 64 KiB: a write does not always go on where the one before ended in its page.
    expect(readFileSync(`${path}.stdout`, "utf8").length).toBeGreaterThan(32_768);
  });
});

/** Content of a FIFO now. */
function take(fd: number): string {
  const bytes = Buffer.alloc(4096);
  try {
    return bytes.toString("utf8", 0, readSync(fd, bytes, 0, bytes.length, null));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EAGAIN") return "";
    throw error;
  }
}
