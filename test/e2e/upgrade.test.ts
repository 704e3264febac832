/** Another build of runt takes over containers in every status, and hands them back: what an upgrade and its rollback do. */
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { STATE_MINOR } from "../../src/runtime/state/record.ts";
import { Client } from "../clients/client.ts";
import { cgroupOf, hasControllers } from "../support/cgroups.ts";
import type { Config } from "../support/config.ts";
import { call, isRoot, isRunt, type Result, RUNTIME, SLOW, shell, useHarness } from "../support/harness.ts";
import { catches } from "../support/process-status.ts";
import { newerBuild, olderBuilds } from "../upgrade/builds.ts";

/** Some four hundred calls. */
const SWAP = { timeout: 120_000 * SLOW };
const STATUSES = ["created", "running", "paused", "stopped"] as const;
type Status = (typeof STATUSES)[number];
const { SIGTERM } = constants.signals;

/** Kinds of containers; each has something in its state that another build must find. */
const SHAPES: Readonly<Record<string, (config: Config, log: string) => void>> = {
  plain: () => {},
  terminal: (config) => {
    config.process.terminal = true;
  },
  "user namespace": (config) => {
    config.linux.namespaces.push({ type: "user" });
    config.linux.uidMappings = config.linux.gidMappings = [{ containerID: 0, hostID: 100_000, size: 65_536 }];
  },
  hooks: (config, log) => {
    const hook = (kind: string) => [{ path: "/bin/sh", args: ["sh", "-c", `echo ${kind} >>${log}`] }];
    config["hooks"] = { poststart: hook("poststart"), poststop: hook("poststop") };
  },
  seccomp: (config) => {
    config.linux["seccomp"] = { defaultAction: "SCMP_ACT_ALLOW", syscalls: [{ names: ["keyctl"], action: "SCMP_ACT_ERRNO" }] };
  },
};

interface Container {
  readonly id: string;
  readonly shape: string;
  readonly log: string;
  readonly pid: number;
  status: Status;
}

const newer = isRoot && isRunt ? newerBuild() : undefined;

describe.skipIf(newer === undefined)("upgrade and rollback under live containers (needs root and a compiler)", () => {
  const { bundle, directory, id, root } = useHarness();
  const installed = join(directory, "bin/runt");
  let client: Client | undefined;

  beforeAll(() => {
    mkdirSync(join(directory, "bin"));
  });
  afterEach(async () => {
    await client?.end();
    client = undefined;
  });

  /** As a package does it: a new file is renamed over the one that may be in use. */
  function install(build: string): void {
    copyFileSync(build, `${installed}.new`);
    renameSync(`${installed}.new`, installed);
  }

  const runt = (...words: readonly string[]): Promise<Result> => call(directory, [installed, "--root", root, ...words]);

  async function ok(...words: readonly string[]): Promise<string> {
    const { status, stdout, stderr } = await runt(...words);
    expect({ words, status, stderr }).toEqual({ words, status: 0, stderr: "" });
    return stdout;
  }

  async function make(shape: string, status: Status, change: (config: Config) => void = () => {}): Promise<Container> {
    client ??= new Client();
    const name = id();
    const log = join(directory, `${name}.log`);
    const path = bundle((config) => {
      shell(config, "trap 'exit 3' TERM; while :; do sleep 0.05; done");
      SHAPES[shape]?.(config, log);
      change(config);
    });
    const socket = shape === "terminal" ? client.consoleSocket(join(path, "socket")) : undefined;
    const pidFile = join(path, "pid");
    const words = ["create", "--bundle", path, "--pid-file", pidFile, ...(socket ? ["--console-socket", socket.path] : []), name];
    const errors = client.pipe();
    const created = await client.start([installed, "--root", root, ...words], { stdio: ["null", "null", errors] });
    expect([await created.status, errors.text()]).toEqual([0, ""]);
    const container: Container = { id: name, shape, log, pid: Number(readFileSync(pidFile, "utf8")), status: "created" };
    if (status !== "created") await start(container);
    if (status === "paused") await pause(container);
    if (status === "stopped") await stop(container);
    return container;
  }

  async function check(container: Container): Promise<void> {
    const { id: name, status, pid } = container;
    const state = JSON.parse(await ok("state", name));
    expect(state).toMatchObject({ id: name, status, pid: status === "stopped" ? 0 : pid });
  }

  async function start(container: Container): Promise<void> {
    await ok("start", container.id);
    container.status = "running";
    await check(container);
  }

  async function pause(container: Container): Promise<void> {
    await ok("pause", container.id);
    container.status = "paused";
    await check(container);
  }

  async function resume(container: Container): Promise<void> {
    await ok("resume", container.id);
    container.status = "running";
    await check(container);
  }

  async function stop(container: Container): Promise<void> {
    await ok("kill", container.id, "KILL");
    expect(await client?.exited(container.pid)).toBe(137);
    container.status = "stopped";
    await check(container);
  }

  async function remove(container: Container, ...force: readonly string[]): Promise<void> {
    await ok("delete", ...force, container.id);
    expect(existsSync(join(root, container.id))).toBe(false);
    if (container.shape === "hooks")
      expect(
        readFileSync(container.log, "utf8")
          .split("\n")
          .filter((line) => line === "poststop"),
      ).toHaveLength(1);
  }

  /** What can be done with a container without changing its status for good. */
  async function use(container: Container, limit: number): Promise<void> {
    const { id: name, shape, pid, status } = container;
    await check(container);
    if (status === "stopped") return;
    // The limit of kernel memory is a warning, for which the record is written anew.
    await update(name, { pids: { limit }, memory: { kernel: 1 << 20 } });
    expect(readFileSync(join(cgroupOf(pid, "pids"), "pids.max"), "utf8")).toBe(`${limit}\n`);
    if (status === "created") return;
    if (status === "paused") await resume(container);
    else await pause(container).then(() => resume(container));
    const facts = await ok("exec", name, "sh", "-c", "readlink /proc/self/ns/user; grep ^Seccomp: /proc/self/status; hostname");
    const ownUsers = shape === "user namespace" ? `/proc/${pid}/ns/user` : "/proc/self/ns/user";
    const seen = await call(directory, ["readlink", ownUsers]);
    expect(facts).toBe(`${seen.stdout}Seccomp:\t${shape === "seccomp" ? 2 : 0}\nhello\n`);
    expect(JSON.parse(await ok("ps", "--format", "json", name))).toContain(pid);
    if (status === "paused") await pause(container);
  }

  async function update(name: string, resources: object): Promise<void> {
    const { status, stderr } = await call(directory, [installed, "--root", root, "update", "-r", "-", name], {
      input: JSON.stringify(resources),
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  }

  const ofStatus = (containers: readonly Container[], status: Status) => containers.filter((container) => container.status === status);

  /** Every way to the end: from created, running, paused and stopped, by signals to init and to all, by delete with and without force. */
  async function end(containers: readonly Container[]): Promise<void> {
    for (const [index, container] of containers.entries()) {
      if (container.status === "created" && index % 2 === 0) await start(container);
      if (container.status === "paused" && index % 2 === 0) await resume(container);
      if (container.status === "running") {
        // Without its trap the first process of a pid namespace does not have the signal at all.
        if (index % 2 === 0) await expect.poll(() => catches(container.pid, SIGTERM)).toBe(true);
        if (index % 2 === 0) await ok("kill", container.id, "TERM");
        else await ok("kill", "--all", container.id, "9");
        expect(await client?.exited(container.pid)).toBe(index % 2 === 0 ? 3 : 137);
        container.status = "stopped";
        await check(container);
      }
      await remove(container, ...(container.status === "paused" ? ["--force"] : []));
    }
  }

  async function swap(first: string, second: string): Promise<void> {
    install(first);
    const containers: Container[] = [];
    for (const shape of Object.keys(SHAPES)) for (const status of STATUSES) containers.push(await make(shape, status));
    expect(containers).toHaveLength(20);
    // Its monitor stays the first build's, and removes it.
    const foreground = id();
    const watched = runt(
      "run",
      "--bundle",
      bundle((config) => shell(config, "while ! test -e /dev/go; do sleep 0.05; done; exit 9")),
      foreground,
    );

    install(second);
    for (const container of containers) await use(container, 111);
    expect(await ok("list", "-q")).toContain(foreground);
    const half = STATUSES.flatMap((status) => ofStatus(containers, status).slice(0, 2));
    await end(half);
    for (const shape of Object.keys(SHAPES)) containers.push(await make(shape, "created"), await make(shape, "running"));

    install(first);
    const rest = containers.filter((container) => !half.includes(container));
    for (const container of rest) await use(container, 222);
    await ok("exec", foreground, "touch", "/dev/go");
    expect((await watched).status).toBe(9);
    await end(rest);
    expect(readdirSync(root).filter((name) => !name.startsWith("@"))).toEqual([]);
  }

  test.skipIf(!hasControllers)("to a newer build and back: 20 containers in four statuses, and what the newer one made", SWAP, () =>
    swap(RUNTIME, newer ?? ""),
  );

  test("a container that a create of the other build is making is left to it", async () => {
    install(RUNTIME);
    client = new Client();
    const [name, mark] = [id(), join(directory, "go")];
    const path = bundle((config) => {
      shell(config, "exit 5");
      config["hooks"] = { createRuntime: [{ path: "/bin/sh", args: ["sh", "-c", `while ! test -e ${mark}; do sleep 0.02; done`] }] };
    });
    const pidFile = join(path, "pid");
    const creating = await client.start([installed, "--root", root, "create", "-b", path, "--pid-file", pidFile, name], {
      stdio: ["null", "null", "null"],
    });
    install(newer ?? "");
    await expect.poll(async () => JSON.parse((await runt("state", name)).stdout || "{}").status).toBe("creating");
    expect((await runt("exec", name, "true")).status).toBe(255);
    await call(directory, ["touch", mark]);
    expect(await creating.status).toBe(0);
    await ok("start", name);
    expect(await client.exited(Number(readFileSync(pidFile, "utf8")))).toBe(5);
    await ok("delete", name);
  });

  test("what a newer build has written stays in the record that an older one rewrites", async () => {
    install(newer ?? "");
    const container = await make("plain", "running");
    install(RUNTIME);
    await update(container.id, { memory: { kernel: 1 << 20 } });
    const record = JSON.parse(readFileSync(join(root, container.id, "state.json"), "utf8"));
    expect(record).toMatchObject({ schema: 1, minor: 99, later: { field: ["of", "a", "later", "day"] }, exec: { later: true } });
    expect(record.warnings).toHaveLength(1);
  });

  test("a container that only a newer build can look after is refused by every verb, also by delete --force", async () => {
    install(newer ?? "");
    const container = await make("plain", "running", (config) => {
      config["annotations"] = { "org.runt.test.later": "yes" };
    });
    const name = container.id;
    install(RUNTIME);
    for (const words of [
      ["state", name],
      ["exec", name, "true"],
      ["kill", name, "9"],
      ["pause", name],
      ["update", "--pids-limit", "9", name],
      ["ps", name],
      ["delete", name],
      ["delete", "--force", name],
    ]) {
      const { status, stderr } = await runt(...words);
      expect([words, status]).toEqual([words, words[0] === "exec" ? 255 : 1]);
      expect(stderr).toMatch(/state version 2\.99 is newer than 1\.\d+ \(the container was made by a newer runt/);
    }
    expect((await runt("list")).stdout).toContain(name);
    install(newer ?? "");
    await check(container);
    await remove(container, "--force");
  });

  test.skipIf(!hasControllers)(
    "a container of a build that had no exec: everything else works, and exec says why it does not",
    async () => {
      install(RUNTIME);
      const container = await make("plain", "running");
      const file = join(root, container.id, "state.json");
      const { exec: _, minor: __, ...early } = JSON.parse(readFileSync(file, "utf8"));
      writeFileSync(file, JSON.stringify(early));
      await check(container);
      const { status, stderr } = await runt("exec", container.id, "true");
      expect([status, stderr]).toEqual([255, expect.stringContaining("the container was made by a runt that had no exec")]);
      await update(container.id, { pids: { limit: 99 }, memory: { kernel: 1 << 20 } });
      expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({ minor: STATE_MINOR, exec: { unknown: true } });
      await pause(container);
      await resume(container);
      await stop(container);
      await remove(container);
    },
  );

  const older = olderBuilds();
  if (older.length === 0) test.skip("from builds of earlier commits (make test-upgrade makes them)", () => {});
  test.each(older)("from the build of commit %s to this one and back", SWAP, (_, build) => swap(build, RUNTIME));
});
