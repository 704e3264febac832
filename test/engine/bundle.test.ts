/** OCI bundles as the source of containers: what config.json says holds, and what contradicts it is refused by name. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { describe, expect, test } from "vitest";
import { REPOSITORY } from "../support/programs.ts";
import { taskCgroups } from "./daemon-cgroups.ts";
import { CGROUP_VERSION, cgroupFile, namespaceOf, statusOf } from "./kernel-files.ts";
import { http, isRoot, until, useEngine } from "./support.ts";
import { SLEEP, taskText } from "./tasks.ts";

interface Config {
  process: Record<string, unknown> & { args: string[]; env: string[] };
  root: { path: string };
  hostname?: string;
  mounts: Record<string, unknown>[];
  annotations?: Record<string, string>;
  linux: Record<string, unknown> & { namespaces: { type: string; path?: string }[]; resources?: Record<string, unknown> };
}

describe.skipIf(!isRoot)("bundles (needs root)", () => {
  const scene = useEngine();
  let count = 0;
  /** A bundle as `runt spec` makes it, changed. */
  const bundle = (change: (config: Config) => void = () => {}, toText: (config: Config) => string = JSON.stringify): string => {
    const directory = join(scene.directory, `bundle-${++count}`);
    mkdirSync(directory);
    execFileSync(join(REPOSITORY, "bin/runt"), ["spec", "--bundle", directory]);
    const file = join(directory, "config.json");
    const config = JSON.parse(readFileSync(file, "utf8")) as Config;
    config.process.args = ["/bin/sh", "-c", SLEEP];
    config.root.path = relative(directory, scene.rootfs());
    change(config);
    writeFileSync(file, toText(config));
    return directory;
  };
  const task = async () => JSON.parse((await http(scene.socket, "GET", "/v1/tasks/t")).text);
  const apply = (fields: Readonly<Record<string, unknown>>, ofTask: Readonly<Record<string, unknown>> = {}) =>
    http(scene.socket, "POST", "/v1/apply", { text: taskText(scene.rootfs(), "t", [{ name: "a", fields }], ofTask) });
  const run = async (...given: Parameters<typeof apply>) => {
    const answer = await apply(...given);
    expect(answer.text).toContain("created");
    await until(async () => /RUNNING|STOPPED/.test((await task()).known));
    expect(await task()).toMatchObject({ known: "RUNNING" });
    return scene.list().find(({ id }) => id.includes(".a-"))!;
  };

  test("config.json says everything about the process; limits, mounts and annotations of the task file are added", async () => {
    await scene.daemon();
    mkdirSync(join(scene.directory, "extra"), { recursive: true });
    const directory = bundle((config) => {
      config.process.env.push("COLOUR=blue");
      config.process["user"] = { uid: 1234, gid: 99 };
      config.hostname = "from-bundle";
      config.annotations = { "com.example.a": "of the bundle", "com.example.b": "of the bundle" };
      config.linux.resources = { ...config.linux.resources, pids: { limit: 40 }, memory: { limit: 64 << 20 } };
      mkdirSync(join(scene.directory, `bundle-${count}`, "relative"));
      config.mounts.push({ destination: "/relative", type: "bind", source: "relative", options: ["bind", "ro"] });
    });
    const { id, pid } = await run({
      bundle: directory,
      memory: "32Mi",
      annotations: { "com.example.b": "of the task file" },
      mounts: [{ source: join(scene.directory, "extra"), target: "/extra", readOnly: true }],
    });
    expect(readFileSync(`/proc/${pid}/environ`, "utf8")).toContain("COLOUR=blue\0");
    expect(statusOf(pid)["Uid"]).toMatch(/^1234\t/);
    expect(cgroupFile(pid, "pids", "pids.max")).toBe("40");
    expect(cgroupFile(pid, "memory", CGROUP_VERSION === 1 ? "memory.limit_in_bytes" : "memory.max")).toBe(String(32 << 20));
    const mounted = readFileSync(`/proc/${pid}/mountinfo`, "utf8");
    expect(mounted).toMatch(/ \/relative ro,/);
    expect(mounted).toMatch(/ \/extra ro,/);
    const state = JSON.parse(
      execFileSync(join(REPOSITORY, "bin/runt"), ["--root", join(scene.stateDir, "executors/@runtime"), "state", id], { encoding: "utf8" }),
    );
    expect(state.annotations).toMatchObject({ "com.example.a": "of the bundle", "com.example.b": "of the task file" });
    expect(execFileSync("nsenter", ["-t", String(pid), "-u", "hostname"], { encoding: "utf8" })).toBe("from-bundle\n");
  });

  test("numbers of 64 bits arrive as they are", async () => {
    await scene.daemon();
    const directory = bundle(
      (config) => {
        config.process["rlimits"] = [{ type: "RLIMIT_CORE", soft: 0, hard: "@" }];
      },
      (config) => JSON.stringify(config).replace('"@"', "18446744073709551615"),
    );
    const { pid } = await run({ bundle: directory });
    expect(readFileSync(`/proc/${pid}/limits`, "utf8")).toMatch(/^Max core file size +0 +unlimited/m);
  });

  test("its namespaces are those of the task where the task shares them", async () => {
    await scene.daemon();
    const directory = bundle((config) => {
      delete config.hostname;
    });
    const { pid } = await run({ bundle: directory }, { namespaces: { network: "shared", uts: "shared", ipc: "private", pid: "shared" } });
    const pause = scene.list().find(({ id }) => id.includes("runtd-pause"))!.pid;
    for (const type of ["net", "uts", "pid"] as const) expect(namespaceOf(pid, type)).toBe(namespaceOf(pause, type));
    expect(namespaceOf(pid, "ipc")).not.toBe(namespaceOf(pause, "ipc"));
  });

  const without = (type: string) => (config: Config) => {
    config.linux.namespaces = config.linux.namespaces.filter((one) => one.type !== type);
  };
  test.each<[string, (config: Config) => void, Record<string, unknown>, Record<string, unknown>, RegExp]>([
    ["no network namespace", without("network"), {}, {}, /has none of type network.*the task file says network: private/],
    ["a network namespace where the task has the host's", () => {}, {}, { namespaces: { network: "host" } }, /has one of type network/],
    [
      "somebody else's namespace",
      (config) => {
        config.linux.namespaces.find(({ type }) => type === "ipc")!.path = "/proc/1/ns/ipc";
      },
      {},
      {},
      /joins another one of type ipc/,
    ],
    ["a hostname for the shared one", () => {}, {}, { namespaces: { uts: "shared" } }, /\/hostname: /],
    [
      "a mount where the task file has one",
      () => {},
      { mounts: [{ source: "/usr", target: "/proc" }] },
      {},
      /\/mounts\/0: \/proc is mounted/,
    ],
    [
      "an annotation of the engine's",
      (config) => {
        config.annotations = { "org.runt.task": "x" };
      },
      {},
      {},
      /\/annotations\/org\.runt\.task: /,
    ],
    [
      "no program",
      (config) => {
        config.process.args = [];
      },
      {},
      {},
      /\/process\/args: there is no program/,
    ],
  ])("refused: %s", async (_, change, fields, ofTask, reason) => {
    await scene.daemon();
    await apply({ bundle: bundle(change), ...fields }, ofTask);
    await until(async () => (await task()).known === "STOPPED");
    expect((await task()).reason).toMatch(reason);
    expect((await task()).reason).toContain("config.json");
    expect(scene.list()).toEqual([]);
  });

  test("E62: if a hook hangs, the launch is aborted, and nothing of it is left", async () => {
    await scene.daemon({ args: ["--launch-timeout", "1s"] });
    const mark = `${20_000 + process.pid}`;
    const directory = bundle((config) => {
      Object.assign(config, { hooks: { createRuntime: [{ path: "/bin/sleep", args: ["sleep", mark] }] } });
    });
    await apply({ bundle: directory });
    await until(async () => (await task()).known === "STOPPED");
    expect((await task()).reason).toMatch(/could not be started: .*was aborted/);
    expect((await task()).containers[0]).toMatchObject({ exit: null, startedMs: null });
    expect(scene.list()).toEqual([]);
    const isHook = (pid: string) => /^\d+$/.test(pid) && commandOf(pid) === `sleep\0${mark}\0`;
    await until(() => !readdirSync("/proc").some(isHook));
    expect((await scene.ctl("delete", "t")).status).toBe(0);
    expect(taskCgroups()).toEqual([]);
  });

  test("refused before anything: fields that config.json has already; a bundle that is not there is named", async () => {
    await scene.daemon();
    const refused = await apply({ bundle: "/nowhere", env: { A: "1" }, noNewPrivileges: false });
    expect(refused.status).toBe(422);
    expect(refused.text).toMatch(/config\.json says env/);
    expect(refused.text).toMatch(/config\.json says noNewPrivileges/);
    await apply({ bundle: "/nowhere" });
    await until(async () => (await task()).known === "STOPPED");
    expect((await task()).reason).toContain("cannot read /nowhere/config.json: ENOENT");
  });
});

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}
