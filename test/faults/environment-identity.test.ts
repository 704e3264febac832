/** Containers whose init has vanished, whose pid is somebody else's by now, or whose times make no sense. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { CGROUPS, isUnified } from "../support/cgroups.ts";
import { call as execute, isRoot, isRunt, RUNTIME, shell, useHarness } from "../support/harness.ts";
import { mountsOf } from "../support/host-mounts.ts";
import { CGROUP_PARENT } from "../support/leaks.ts";
import { ONE_LINE, privately } from "./environment.ts";

/** Verbs that only read, and verbs that need a running init. */
const LOOKING = [["state"], ["ps"]];
const ACTING = (file: string) => [
  ["start"],
  ["exec", "@", "true"],
  ["kill", "@", "KILL"],
  ["kill", "@", "TERM"],
  ["pause"],
  ["resume"],
  ["update", "--pids-limit", "20", "@"],
  ["mounts", "add", "@", file],
  ["events", "--stats"],
  ["checkpoint"],
];

describe.skipIf(!isRoot || !isRunt)("identity of init (needs root)", () => {
  const harness = useHarness();
  const { bundle, directory, id, ok, root, runtime } = harness;
  const mountsFile = join(directory, "mounts.json");
  const others: ChildProcess[] = [];
  afterEach(() => {
    for (const other of others.splice(0)) other.kill("SIGKILL");
  });

  const staying = (change: Parameters<typeof bundle>[0] = () => {}) =>
    bundle((config) => {
      shell(config, "exec sleep 60");
      change?.(config);
    });
  const call = (words: readonly string[], name: string) =>
    runtime(words.includes("@") ? words.map((word) => (word === "@" ? name : word)) : [...words, name]);
  const statePath = (name: string) => join(root, name, "state.json");
  const record = (name: string) => JSON.parse(readFileSync(statePath(name), "utf8"));
  const edit = (name: string, change: object) => writeFileSync(statePath(name), JSON.stringify({ ...record(name), ...change }));
  const nothingLeft = () => {
    expect(readdirSync(root).filter((entry) => entry !== "@cache")).toEqual([]);
    const places = isUnified ? [CGROUPS] : readdirSync(CGROUPS).map((name) => `${CGROUPS}/${name}`);
    expect(places.filter((path) => existsSync(path + CGROUP_PARENT))).toEqual([]);
  };

  /** A process of somebody else's, and how it is to be found afterwards: alive, not stopped, where it was. */
  async function bystander(): Promise<{ pid: number; startTime: string; untouched: () => void }> {
    const child = spawn("sleep", ["60"], { stdio: "ignore" });
    others.push(child);
    const pid = child.pid!;
    const stat = () =>
      readFileSync(`/proc/${pid}/stat`, "utf8")
        .replace(/^.*\) /s, "")
        .split(" ");
    await expect.poll(() => readFileSync(`/proc/${pid}/comm`, "utf8")).toBe("sleep\n");
    const look = () => ({
      cgroup: readFileSync(`/proc/${pid}/cgroup`, "utf8"),
      mounts: mountsOf(pid, directory),
      namespace: readlinkSync(`/proc/${pid}/ns/mnt`),
      children: readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8"),
      signals: /^(SigPnd|ShdPnd).*$/gm.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[0],
    });
    const before = look();
    return {
      pid,
      startTime: stat()[19]!,
      untouched: () => {
        expect(child.exitCode ?? child.signalCode).toBeNull();
        expect(stat()[0]).toBe("S");
        expect(look()).toEqual(before);
      },
    };
  }

  test.each(["created", "running", "paused"])(
    "init is killed while %s: every verb says it has stopped, and delete leaves nothing",
    async (status) => {
      const name = id();
      const pidFile = join(directory, `pid-${name}`);
      await ok(["create", "--pid-file", pidFile, "-b", staying(), name]);
      if (status !== "created") await ok(["start", name]);
      if (status === "paused") await ok(["pause", name]);
      process.kill(Number(readFileSync(pidFile, "utf8")), "SIGKILL");
      // A frozen process of cgroup v1 dies when it thaws.
      if (status === "paused" && !isUnified) expect(await runtime(["resume", name])).toMatchObject({ status: 0 });
      await harness.until(name, "stopped");
      writeFileSync(mountsFile, '{"mounts": []}');
      expect(JSON.parse(await ok(["state", name]))).toMatchObject({ status: "stopped", pid: 0 });
      for (const words of ACTING(mountsFile)) {
        const result = await call(words, name);
        expect(result.status, words[0]).not.toBe(0);
        expect(result.stderr, words[0]).toMatch(/stopped|not running|not paused/);
        expect(result.stderr, words[0]).toMatch(ONE_LINE);
      }
      expect(await runtime(["delete", name])).toMatchObject({ status: 0, stdout: "", stderr: "" });
      nothingLeft();
    },
  );

  test("a create that was killed before its init existed: stopped for every verb, and delete needs no force", async () => {
    const name = id();
    await ok(["create", "-b", staying(), name]);
    process.kill(record(name).pid, "SIGKILL");
    await harness.until(name, "stopped");
    edit(name, { phase: "creating", pid: 0, startTime: "0" });
    expect(JSON.parse(await ok(["state", name]))).toMatchObject({ status: "stopped", pid: 0 });
    expect((await runtime(["start", name])).stderr).toContain("cannot start a container that has stopped");
    expect((await runtime(["pause", name])).stderr).toContain("container not running");
    expect(await runtime(["delete", name])).toMatchObject({ status: 0, stderr: "" });
    nothingLeft();
  });

  test("init is killed under a foreground run and under exec: both end with its status", async () => {
    const name = id();
    const run = runtime(["run", "-b", staying(), name]);
    await harness.until(name, "running");
    const exec = runtime(["exec", name, "sleep", "60"]);
    await expect.poll(async () => (await ok(["ps", name])).trim().split("\n").length).toBeGreaterThan(2);
    process.kill(record(name).pid, "SIGKILL");
    expect(await run).toMatchObject({ status: 137 });
    expect(await exec).toMatchObject({ status: 137 });
    nothingLeft();
  });

  test("a machine whose monitor's pid is somebody else's by now: nobody is asked there", async () => {
    const victim = await bystander();
    const name = id();
    await ok(["run", "-d", "-b", staying(), name]);
    process.kill(record(name).pid, "SIGKILL");
    await harness.until(name, "stopped");
    const machine = { socket: "/run/monitor.sock", memoryMiB: 160 };
    edit(name, { pid: victim.pid, startTime: String(BigInt(victim.startTime) - 1n), machine });
    for (const words of [
      ["events", "--stats"],
      ["update", "--pids-limit", "20", "@"],
      ["exec", "@", "true"],
    ])
      expect(await call(words, name), words[0]).toMatchObject({
        stdout: "",
        stderr: expect.stringMatching(/^runt: [^\n]*(not running|stopped)[^\n]*\n$/),
      });
    victim.untouched();
    expect(await runtime(["delete", name])).toMatchObject({ status: 0, stderr: "" });
    nothingLeft();
  });

  describe.each([
    ["with a PID namespace", true],
    ["without", false],
  ] as const)("a record whose pid is somebody else's by now, %s", (_, isPrivate) => {
    test.each([
      ["other start ticks", ({ startTime }: { startTime: string }) => ({ startTime: String(BigInt(startTime) - 1n) })],
      ["no start ticks", () => ({ startTime: "0" })],
    ])("%s: nothing happens to it", async (_, ticks) => {
      const victim = await bystander();
      const name = id();
      const path = staying((config) => {
        if (!isPrivate) config.linux.namespaces = config.linux.namespaces.filter(({ type }) => type !== "pid");
      });
      await ok(["run", "-d", "-b", path, name]);
      const init = record(name).pid as number;
      process.kill(init, "SIGKILL");
      await harness.until(name, "stopped");
      edit(name, { pid: victim.pid, ...ticks(victim) });
      writeFileSync(mountsFile, JSON.stringify({ mounts: [{ destination: "/tmp", type: "bind", source: directory, options: ["bind"] }] }));
      expect(JSON.parse(await ok(["state", name]))).toMatchObject({ status: "stopped", pid: 0 });
      for (const words of [...LOOKING, ...ACTING(mountsFile), ["kill", "--all", "@", "KILL"], ["delete"], ["delete", "--force"]]) {
        const { stderr } = await call(words, name);
        expect(stderr, words.join(" ")).toMatch(/^$|^runt: (?!internal)/);
        victim.untouched();
      }
      nothingLeft();
    });
  });

  test("the pid is given out again for real, by the kernel", async () => {
    const path = staying();
    const name = id();
    // The kernel counts start times in hundredths of a second (proc_pid_stat(5)): within one of them the two processes would look alike.
    const script = [
      "runtime=$0; root=$1; bundle=$2; id=$3",
      '"$runtime" --root "$root" run -d -b "$bundle" "$id"; sleep 0.05',
      'pid=$(sed \'s/.*"pid":\\([0-9]*\\).*/\\1/\' "$root/$id/state.json")',
      'kill -9 "$pid"; for i in $(seq 100); do [ -e /proc/$pid ] || break; sleep 0.1; done; [ ! -e /proc/$pid ]',
      'echo $((pid - 1)) > /proc/sys/kernel/ns_last_pid; sleep 60 & [ $! = "$pid" ] || exit 99',
      // On a busy host it may not have begun to sleep when all the verbs have returned.
      'for i in $(seq 100); do grep -q "^State:.S" /proc/$pid/status && break; sleep 0.1; done',
      'for verb in "kill $id KILL" "kill $id TERM" "exec $id true" "pause $id" "start $id" "delete --force $id"; do "$runtime" --root "$root" $verb 2>&1 || :; done',
      'kill -0 "$pid" && grep -q "^State:.S" /proc/$pid/status && [ ! -e "$root/$id" ] && echo untouched; kill -9 "$pid"',
    ].join("\n");
    const inside = privately(":", ["--pid", "--fork", "--mount-proc", "--kill-child"]);
    const { status, stdout, stderr } = await execute(directory, [...inside, "sh", "-ec", script, RUNTIME, root, path, name]);
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(stdout).toContain("untouched");
    expect(stdout).toContain("not running");
    nothingLeft();
  });

  test.each([
    ["in the future", "2199-12-31T23:59:59.999999999Z"],
    ["before everything", "0001-01-01T00:00:00Z"],
    ["no time at all", "yesterday"],
  ])("created %s: nothing depends on it", async (_, created) => {
    const name = id();
    await ok(["create", "-b", staying(), name]);
    edit(name, { created });
    await ok(["start", name]);
    expect(JSON.parse(await ok(["state", name]))).toMatchObject({ status: "running", created });
    await ok(["exec", name, "true"]);
    expect(await ok(["list"])).toContain(name);
    await ok(["pause", name]);
    await ok(["resume", name]);
    await ok(["delete", "--force", name]);
    nothingLeft();
  });

  test.each([[-1], [0], [1.5], [2 ** 31], [2 ** 40], [Number.MAX_SAFE_INTEGER]])(
    "a record with the pid %d: no verb takes it for a process",
    async (pid) => {
      const name = id();
      await ok(["run", "-d", "-b", staying(), name]);
      const init = record(name).pid as number;
      process.kill(init, "SIGKILL");
      await harness.until(name, "stopped");
      edit(name, { pid });
      for (const words of [["state"], ["kill", "@", "KILL"], ["exec", "@", "true"], ["pause"]]) {
        const { stderr } = await call(words, name);
        expect(stderr, words[0]).toMatch(/^$|^runt: (?!internal)[^\n]+\n$/);
      }
      expect(await runtime(["delete", "--force", name])).toMatchObject({ status: 0 });
      nothingLeft();
    },
  );
});
