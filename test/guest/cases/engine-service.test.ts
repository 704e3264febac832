/**
 * runtd as a service of systemd's on cgroup v2, from its Debian package, with 20 containers that run. The kernel says that they are the same
 * processes when it is restarted, their logs that nobody has missed a line. The machine ends afterwards, with all that is left.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { identityOf, until } from "../../engine/requests.ts";
import { taskText } from "../../engine/tasks.ts";
import { printed } from "../../support/log-file.ts";
import { copiedRootfs } from "../../support/programs.ts";
import { show, systemctl, systemdRuns } from "../../support/systemd.ts";
import { answered, ask, CGROUP, cgroupOf, identities, install, isAlive, journal, list, mainPid, node, tasks, UNIT } from "../service.ts";

const TASKS = ["one", "two", "three", "four"];
const CONTAINERS = ["a", "b", "c", "d", "e"];
const RUNNING = TASKS.length * CONTAINERS.length;
/** As the kernel shows them: memory, pids. */
const LIMITS = [String(64 * 1024 * 1024), "50"];
/** What it prints is counted. */
const COUNTER = "trap 'exit 0' TERM; i=0; while :; do i=$((i+1)); echo $i; sleep 1 & wait $!; done";

describe.skipIf(!systemdRuns)("runtd under systemd, with running containers (needs the guest)", () => {
  const directory = mkdtempSync(join(tmpdir(), "runt-guest-engine-"));
  let rootfs = "";
  let before: string[] = [];

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
    expect(identities()).toEqual(before);
    const found = await tasks();
    expect(found.map(({ known, generation }) => [known, generation])).toEqual(TASKS.map(() => ["RUNNING", 1]));
    expect((await node()).conditions).toEqual([]);
    await goOn(await logs());
  }

  beforeAll(async () => {
    execFileSync("chmod", ["711", directory]);
    rootfs = copiedRootfs(directory);
    await install();
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
});
