/** Containers in virtual machines, for real: each machine boots by software emulation, some seconds on an idle machine and many on a busy one. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { RUNTIME, SLOW, shell, useHarness } from "../support/harness.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { isThere, type Machine, machineMissing, programs, staying, VM, VM_TIMEOUT, WITH_IMAGE } from "../support/vm.ts";

const missing = machineMissing();

describe.skipIf(missing !== undefined)(`a container in a machine${missing ? ` (${missing})` : ""}`, { timeout: VM_TIMEOUT }, () => {
  const harness = useHarness();
  const { id, ok, runtime, until } = harness;
  const options = WITH_IMAGE;
  const vm = VM;

  const exec = ({ name }: Machine, command: string, input?: string) =>
    runtime(["exec", name, "/bin/sh", "-c", command], input === undefined ? {} : { input });

  test("has its streams, its user and its status, under another kernel", async () => {
    const bundle = harness.bundle((config) => {
      shell(config, 'read line; echo "$line $(uname -r) $(id -u) $(hostname)"; echo wrong >&2; exit 7');
      config.process.user = { uid: 1000, gid: 1000 };
    });
    const { status, stdout, stderr } = await runtime(["run", ...vm, "-b", bundle, id()], { ...options, input: "hello\n" });
    expect(stdout).toMatch(/^hello \S+-cloud-amd64 1000 hello\n$/);
    expect(stdout).not.toContain(execFileSync("uname", ["-r"], { encoding: "utf8" }).trim());
    expect(stderr).toBe("wrong\n");
    expect(status).toBe(7);
  });

  test("has further processes, volumes and limits, is paused, and ends by a signal", async () => {
    const secret = join(harness.directory, "secret");
    writeFileSync(secret, "from the host\n");
    chmodSync(secret, 0o666);
    const machine = await staying(harness, (config) => {
      config.mounts.push({ destination: "/secret", type: "bind", source: secret, options: ["bind", "ro"] });
      config.linux.resources = { memory: { limit: 32 * 1024 ** 2 } };
    });
    const { name, marks } = machine;

    expect(await exec(machine, "cat /secret; cat; exit 3", "in\n")).toEqual({ status: 3, stdout: "from the host\nin\n", stderr: "" });
    expect((await exec(machine, "echo no >/secret")).status).not.toBe(0);
    expect(readFileSync(secret, "utf8")).toBe("from the host\n");
    await exec(machine, "echo there >/marks/written; kill -KILL $$");
    expect(readFileSync(join(marks, "written"), "utf8")).toBe("there\n");
    // Both ways more than there is ever credit for.
    const large = "0123456789abcde\n".repeat(20_000);
    expect((await exec(machine, "cat; exit 0", large)).stdout.length).toBe(large.length);
    // Programs that have ended before their process on the host is there.
    for (let count = 0; count < 5; count++) expect(await ok(["exec", name, "/bin/echo", "soon"])).toBe("soon\n");
    // Killed for memory in the machine; the container goes on.
    expect((await exec(machine, "tail /dev/zero")).status).toBe(137);

    // Those of the machine; the numbers that engines get are the host's.
    expect(await ok(["ps", name])).toMatch(/^UID +PID .* CMD\n\S+ +\d+ .* \/bin\/sh -c echo up/);
    expect(JSON.parse(await ok(["ps", "--format", "json", name]))).toContain(machine.pid);

    const hypervisor = programs(machine).get("qemu-system-x86")!;
    const status = readFileSync(`/proc/${hypervisor}/status`, "utf8");
    expect(status).toMatch(/^Uid:\s+65534\s+65534\s+65534\s+65534$/m);
    expect(status).toMatch(/^CapEff:\s+0+$/m);
    expect(status).toMatch(/^Seccomp:\s+2$/m);

    await ok(["update", "--memory", String(24 * 1024 ** 2), name]);
    const { data } = JSON.parse(await ok(["events", "--stats", name])) as { data: { memory: { usage: { limit: number } } } };
    expect(data.memory.usage.limit).toBe(24 * 1024 ** 2);
    const larger = await runtime(["update", "--memory", String(1024 ** 3), name]);
    expect(larger.stderr).toContain("this machine has 32 MiB for its container");

    // Every process of the container has a signal once, also those that no process of the host stands for.
    const counting = (file: string): string =>
      `trap 'echo one >>/marks/${file}' HUP; echo $$ >/marks/${file}-up; while :; do sleep 0.2; done`;
    await exec(machine, `sh -c "${counting("left")}" >/dev/null 2>&1 & sleep 0.5`);
    const beside = exec(machine, counting("beside"));
    await expect
      .poll(() => existsSync(join(marks, "beside-up")) && existsSync(join(marks, "left-up")), { timeout: PATIENCE_MS })
      .toBe(true);
    await ok(["kill", "--all", name, "HUP"]);
    const counted = (file: string) => (existsSync(join(marks, file)) ? readFileSync(join(marks, file), "utf8") : "");
    for (const file of ["left", "beside"]) await expect.poll(() => counted(file), { timeout: PATIENCE_MS }).toBe("one\n");
    expect(isThere(hypervisor)).toBe(true);
    await exec(machine, "kill -KILL $(cat /marks/beside-up)");
    expect((await beside).status).toBe(137);
    for (const file of ["left", "beside"]) expect(counted(file)).toBe("one\n");

    await ok(["pause", name]);
    await until(name, "paused");
    await ok(["resume", name]);
    expect((await exec(machine, "echo again")).stdout).toBe("again\n");

    await ok(["kill", name, "TERM"]);
    await until(name, "stopped");
    expect(isThere(hypervisor)).toBe(false);
    await ok(["delete", name]);
  });

  test("ends although the file server has not answered for the files that its program had open", async () => {
    const name = id();
    const bundle = harness.bundle((config) => shell(config, "echo up; read line; exit 7"));
    const run = spawn(RUNTIME, ["--root", harness.root, "run", ...vm, "-b", bundle, name], {
      env: { ...process.env, ...options.env },
      stdio: ["pipe", "pipe", "inherit"],
    });
    const ended = once(run, "exit");
    await once(run.stdout, "data");
    const { pid } = JSON.parse(await ok(["state", name])) as { pid: number };
    const server = programs({ pid }).get("virtiofsd")!;
    process.kill(server, "SIGSTOP");
    run.stdin.end("go\n");
    await Promise.race([ended, sleep(2000 * SLOW)]);
    if (isThere(server)) process.kill(server, "SIGCONT");
    expect(await ended).toEqual([7, null]);
  });

  test("leaves nothing when a process of its machine is killed", async () => {
    for (const victim of ["qemu-system-x86", "virtiofsd", "runt", "monitor"]) {
      const machine = await staying(harness);
      const all = programs(machine);
      process.kill(victim === "monitor" ? machine.pid : all.get(victim)!, "SIGKILL");
      await until(machine.name, "stopped");
      for (const [program, pid] of all) expect(isThere(pid), `${program} after the end of ${victim}`).toBe(false);
      await ok(["delete", machine.name]);
    }
  });

  test("is refused by name where it asks for what a machine cannot have", async () => {
    const bundle = harness.bundle((config) => {
      config.linux.namespaces = config.linux.namespaces.filter(({ type }) => type !== "pid");
    });
    const name = id();
    const { status, stderr } = await runtime(["create", ...vm, "-b", bundle, name], options);
    expect(status).toBe(1);
    expect(stderr).toContain("a container in a machine cannot have the pid namespace of the host");
    expect(existsSync(join(harness.root, name))).toBe(false);
  });

  test("has a plan of two sides, whose digest create can be held to", async () => {
    const bundle = harness.bundle();
    const plan = await ok(["plan", ...vm, "-b", bundle, "planned"], options);
    expect(plan).toContain("# in the machine: ");
    const digest = /sha256:[0-9a-f]{64}/.exec(plan)![0];
    const other = await ok(["plan", "--isolation", "host", "-b", bundle, "planned"], options);
    expect(other).not.toContain(digest);
    expect(other).not.toContain("# in the machine: ");
    const refused = await runtime(
      ["create", ...vm, "--expect-plan", digest, "-b", harness.bundle((config) => shell(config, "true")), id()],
      options,
    );
    expect(refused.stderr).toContain(`not ${digest} as expected`);
  });
});
