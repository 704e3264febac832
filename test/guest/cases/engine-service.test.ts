/**
 * runtd as a service of systemd's on cgroup v2, from its Debian package, with 20 containers that run: it is restarted, killed, upgraded, stopped and
 * removed. The kernel says that the containers are the same processes, their logs that nobody has missed a line.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { TaskView } from "../../../src/engine/index.ts";
import { identityOf, until } from "../../engine/requests.ts";
import { taskText } from "../../engine/tasks.ts";
import { printed } from "../../support/log-file.ts";
import { copiedRootfs, REPOSITORY } from "../../support/programs.ts";
import { show, systemctl, systemdRuns } from "../../support/systemd.ts";
import {
  answered,
  ask,
  CGROUP,
  cgroupOf,
  dpkg,
  identities,
  install,
  isAlive,
  journal,
  list,
  mainPid,
  node,
  SOCKET,
  tasks,
  UNIT,
} from "../service.ts";

const TASKS = ["one", "two", "three", "four"];
const CONTAINERS = ["a", "b", "c", "d", "e"];
const RUNNING = TASKS.length * CONTAINERS.length;
/** As the kernel shows them: memory, pids. */
const LIMITS = [String(64 * 1024 * 1024), "50"];
/** Of the build: it is there when the package is not. */
const RUNT = join(REPOSITORY, "bin/runt");
/** What it prints is counted. */
const COUNTER = "trap 'exit 0' TERM; i=0; while :; do i=$((i+1)); echo $i; sleep 1 & wait $!; done";
const PACKAGE = ["/usr/bin/runt", "/usr/bin/runtd", "/usr/bin/runtctl", "/lib/systemd/system/runtd.service"];

describe.skipIf(!systemdRuns)("runtd under systemd, with running containers (needs the guest)", () => {
  const directory = mkdtempSync(join(tmpdir(), "runt-guest-engine-"));
  let rootfs = "";
  let before: string[] = [];

  const get = (name: string) => ask<TaskView>("GET", `/v1/tasks/${name}`);
  const apply = (text: string) => ask("POST", "/v1/apply", { text, group: "default" });
  const lines = (log: string) => printed(log, "stdout").trimEnd().split("\n").map(Number);
  const logs = async () => (await tasks()).flatMap(({ containers }) => containers.map(({ log }) => log));

  const directories = (path: string) =>
    readdirSync(path, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
  /** Of daemons, as long as one is there. */
  const epochs = () => directories(join(CGROUP, "effects"));
  const limits = () =>
    directories(CGROUP)
      .filter((name) => !["effects", "monitors"].includes(name))
      .map((name) => ["memory.max", "pids.max"].map((file) => readFileSync(join(CGROUP, name, file), "utf8").trim()));

  /** Every container goes on to print, and has missed no line. */
  async function goOn(all: readonly string[]): Promise<void> {
    const now = all.map((log) => lines(log).length);
    await until(() => all.every((log, at) => lines(log).length > now[at]!));
    for (const found of all.map(lines)) expect(found).toEqual(found.map((_, at) => at + 1));
  }

  /** What changes the daemon has changed nothing else. */
  async function isSame(): Promise<void> {
    await answered();
    expect(identities(RUNT)).toEqual(before);
    const found = await tasks();
    expect(found.map(({ known, generation }) => [known, generation])).toEqual(TASKS.map(() => ["RUNNING", 1]));
    expect((await node()).conditions).toEqual([]);
    await goOn(await logs());
  }

  beforeAll(async () => {
    execFileSync("chmod", ["711", directory]);
    rootfs = copiedRootfs(directory);
    await install("current");
  });
  afterEach(({ task }) => {
    if (task.result?.state === "fail") console.log(journal());
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  test("the package starts nothing; an administrator does, and systemd knows the daemon, which is in a cgroup of its own", async () => {
    expect(await show(UNIT, "ActiveState", "UnitFileState")).toEqual({ ActiveState: "inactive", UnitFileState: "disabled" });
    await systemctl("enable", "--now", UNIT);
    await answered();
    expect(await show(UNIT, "ActiveState", "Delegate")).toEqual({ ActiveState: "active", Delegate: "yes" });
    expect(readFileSync(`/proc/${await mainPid()}/cmdline`, "utf8")).toContain("runtd");
    expect(cgroupOf(await mainPid())).toMatch(/^\/runtd\/effects\/[\w-]+\.1$/);
  });

  test(`${RUNNING} containers run, each task in a cgroup with its limits`, async () => {
    const containers = CONTAINERS.map((name) => ({ name, script: COUNTER, fields: { essential: name === "a" } }));
    await apply(TASKS.map((name) => taskText(rootfs, name, containers, { memory: "64Mi", pids: 50 })).join("\n---\n"));
    await until(async () => (await tasks()).every(({ known }) => known === "RUNNING"));
    before = identities();
    expect(before.length).toBe(RUNNING);
    await goOn(await logs());
  });

  test("T5: on cgroup v2 a task is one directory below that of the tasks, and its containers are below it", async () => {
    for (const { id } of await tasks()) {
      const own = list().filter((one) => one.id.startsWith(`${id}.`));
      const places = own.map(({ pid }) => cgroupOf(pid).split("/"));
      expect(places.map(([, ...path]) => path)).toEqual(places.map(() => ["runtd", expect.stringContaining(id), expect.anything()]));
      expect(new Set(places.map(([, , task]) => task)).size).toBe(1);
      expect(new Set(places.map(([, , , container]) => container)).size).toBe(CONTAINERS.length);
    }
    expect(limits()).toEqual(TASKS.map(() => LIMITS));
  });

  test("systemd leaves the limits alone: its configuration is read again, and other units with limits come and go", async () => {
    await systemctl("daemon-reload");
    const properties = ["MemoryMax=32M", "TasksMax=9", "CPUWeight=7"].map((one) => `--property=${one}`);
    execFileSync("systemd-run", ["--quiet", "--wait", ...properties, "true"]);
    await systemctl("daemon-reload");
    expect(limits()).toEqual(TASKS.map(() => LIMITS));
    await isSame();
  });

  test("systemctl restart: another daemon, the same containers", async () => {
    const old = identityOf(await mainPid());
    await systemctl("restart", UNIT);
    await isSame();
    expect(isAlive(old)).toBe(false);
    expect((await node()).epoch).toBe(2);
    expect(epochs()).toEqual([expect.stringMatching(/\.2$/)]);
  });

  test("an upgrade of the package: the daemon is the new one, the containers are the old ones", async () => {
    const old = identityOf(await mainPid());
    await install("newer");
    await isSame();
    expect(isAlive(old)).toBe(false);
    expect(await dpkg("--status", "runtd")).toMatch(/^Status: install ok installed$[\s\S]*^Version: .*newer$/m);
  });

  test("systemctl stop: containers go on without a daemon, and the next one has all that they have printed", async () => {
    const all = await logs();
    await systemctl("stop", UNIT);
    expect(existsSync(SOCKET)).toBe(false);
    expect(existsSync(join(CGROUP, "effects"))).toBe(false);
    expect(identities(RUNT)).toEqual(before);
    await goOn(all);
    await systemctl("start", UNIT);
    await isSame();
  });

  test("removal of the package: the daemon ends, containers go on; after another installation their ends are known", async () => {
    const all = await logs();
    await dpkg("--remove", "runtd", "runt");
    expect(PACKAGE.filter((path) => existsSync(path))).toEqual([]);
    expect(existsSync(SOCKET)).toBe(false);
    expect(await show(UNIT, "MainPID")).toEqual({ MainPID: "0" });
    expect(identities(RUNT)).toEqual(before);
    await goOn(all);
    // The monitor has a copy of the program, wherever the file is.
    const victim = before.find((one) => /\.two\.\d+\S*\.b-/.test(one))!;
    process.kill(Number(/ (\d+):/.exec(victim)![1]), "SIGKILL");
    await until(() => identities(RUNT).length === RUNNING - 1);

    await install("newer");
    expect(await show(UNIT, "ActiveState", "UnitFileState")).toEqual({ ActiveState: "inactive", UnitFileState: "enabled" });
    await systemctl("start", UNIT);
    await answered();
    expect(identities(RUNT)).toEqual(before.filter((one) => one !== victim));
    const ended = (await get("two")).containers.find(({ name }) => name === "b");
    expect(ended).toMatchObject({ known: "STOPPED", exit: { signal: 9, unknown: false } });
  });

  test("what a killed daemon had begun is ended before systemd's next one answers; nobody else is", async () => {
    // A health check that does not end is an effect that takes as long as one likes.
    const healthCheck = { command: ["/bin/sleep", "4000"], timeout: "4000s", interval: "1s" };
    await apply(taskText(rootfs, "checked", [{ name: "main", fields: { healthCheck, stopSignal: "SIGKILL" } }]));
    await until(async () => (await get("checked")).known === "RUNNING");
    const inside = async () => {
      const daemon = await mainPid();
      const pids = readFileSync(`/sys/fs/cgroup${cgroupOf(daemon)}/cgroup.procs`, "utf8")
        .trim()
        .split("\n")
        .map(Number);
      return pids.filter((pid) => pid !== daemon && existsSync(`/proc/${pid}`)).map(identityOf);
    };
    // Not those that are over at once, nor the monitor of a launch, which leaves the cgroup a moment later.
    let begun: string[] = [];
    await until(async () => {
      const seen = await inside().catch((): string[] => []);
      await sleep(3_000);
      const stays = await inside().catch((): string[] => []);
      begun = seen.filter((one) => stays.includes(one));
      return begun.length > 0;
    }, 120_000);
    const [old, { epoch }] = [await mainPid(), await node()];
    const running = identities();
    process.kill(old, "SIGKILL");
    await until(async () => ![0, old].includes(await mainPid()));
    await answered();
    expect(begun.map(isAlive)).toEqual(begun.map(() => false));
    expect(identities()).toEqual(running);
    expect(await show(UNIT, "NRestarts")).toEqual({ NRestarts: "1" });
    expect(epochs()).toEqual([expect.stringMatching(new RegExp(`\\.${epoch + 1}$`))]);
  });

  test("deleted and removed, nothing of it is on the host", async () => {
    for (const { name } of await tasks()) await ask("DELETE", `/v1/tasks/${name}`);
    await until(async () => (await tasks()).length === 0);
    expect(list()).toEqual([]);
    expect(before.filter(isAlive)).toEqual([]);
    await dpkg("--purge", "runtd", "runt");
    await until(() => !existsSync(CGROUP));
    expect(existsSync("/etc/systemd/system/multi-user.target.wants/runtd.service")).toBe(false);
    expect(await show(UNIT, "LoadState", "ActiveState")).toEqual({ LoadState: "not-found", ActiveState: "inactive" });
    expect(readFileSync("/proc/self/mountinfo", "utf8")).not.toContain("/var/lib/runtd");
  });
});
