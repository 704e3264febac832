/** What only a host of cgroup v2 shows: nested and threaded cgroups, delegation, events, a controller that is missing. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, statSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { CGROUPS, cgroupOf, isUnified } from "../../support/cgroups.ts";
import { shell, useHarness } from "../../support/harness.ts";
import { CGROUP_PARENT } from "../../support/leaks.ts";

const MIB = 1024 * 1024;

describe.runIf(isUnified)("cgroup v2", () => {
  const { bundle, id, ok, runtime } = useHarness();
  const MOUNT = { destination: "/sys/fs/cgroup", type: "cgroup", source: "cgroup", options: ["nosuid", "noexec", "nodev"] };

  interface Started {
    readonly name: string;
    readonly pid: number;
    readonly directory: string;
  }

  async function started(change: Parameters<typeof bundle>[0] = () => {}): Promise<Started> {
    const name = id();
    const path = bundle((config) => {
      shell(config, "sleep 1000");
      change?.(config);
    });
    await ok(["run", "-d", "-b", path, name]);
    const { pid } = JSON.parse(await ok(["state", name]));
    return { name, pid, directory: cgroupOf(pid, "") };
  }

  const read = (path: string) => readFileSync(path, "utf8").trim();
  const placeOf = (pid: number) => /^0::(.*)$/m.exec(readFileSync(`/proc/${pid}/cgroup`, "utf8"))?.[1];

  test("the program has been in its cgroup from its first instruction", async () => {
    const path = bundle((config) => {
      shell(config, "cat /sys/fs/cgroup/pids.max /sys/fs/cgroup/cgroup.procs; cat /proc/self/cgroup");
      config.linux.namespaces = [...config.linux.namespaces.filter(({ type }) => type !== "cgroup"), { type: "cgroup" }];
      config.mounts = config.mounts.filter(({ destination }) => destination !== MOUNT.destination);
      config.mounts.push({ ...MOUNT, options: [...MOUNT.options, "ro"] });
      config.linux.resources = { pids: { limit: 10 } };
    });
    const lines = (await ok(["run", "-b", path, id()])).trimEnd().split("\n");
    expect([lines[0], lines.at(-1)]).toEqual(["10", "0::/"]);
  });

  test("exec goes to where init is, once the container has handed controllers down", async () => {
    const { name, pid, directory } = await started();
    for (const inner of ["init", "other"]) mkdirSync(`${directory}/${inner}`);
    writeFileSync(`${directory}/init/cgroup.procs`, String(pid));
    writeFileSync(`${directory}/cgroup.subtree_control`, "+pids");
    const exec = async (...flags: string[]) => (await ok(["exec", ...flags, name, "cat", "/proc/self/cgroup"])).trim();
    const own = await exec();
    expect(own.endsWith("/init") || own === "0::/init").toBe(true);
    expect(await exec("--cgroup", "other")).toMatch(/\/other$/);
    expect(await runtime(["exec", "--cgroup", "../x", name, "true"])).toMatchObject({
      status: 255,
      stderr: expect.stringContaining("bad sub cgroup path"),
    });
    expect((await runtime(["exec", "--cgroup", "/", name, "true"])).status).toBe(255);
    await ok(["delete", "--force", name]);
    expect(existsSync(directory)).toBe(false);
  });

  test("a threaded cgroup below the container's: exec, ps and kill still work", async () => {
    const { name, pid, directory } = await started();
    mkdirSync(`${directory}/threads`);
    writeFileSync(`${directory}/threads/cgroup.type`, "threaded");
    expect(read(`${directory}/cgroup.type`)).toBe("domain threaded");
    writeFileSync(`${directory}/cgroup.subtree_control`, "+pids");
    expect(await ok(["exec", name, "echo", "here"])).toBe("here\n");
    expect(JSON.parse(await ok(["ps", "-f", "json", name]))).toEqual([pid]);
    await ok(["delete", "--force", name]);
    expect(existsSync(directory)).toBe(false);
  });

  test("below a cgroup with processes only what threads can have is possible", async () => {
    const parent = `${CGROUPS}${CGROUP_PARENT}-busy`;
    mkdirSync(parent);
    try {
      mkdirSync(`${parent}/threads`);
      writeFileSync(`${parent}/threads/cgroup.type`, "threaded");
      const withMemory = bundle((config) => {
        config.linux.cgroupsPath = `${CGROUP_PARENT}-busy/c`;
        config.linux.resources = { memory: { limit: 64 * MIB } };
      });
      expect((await runtime(["create", "-b", withMemory, id()])).stderr).toMatch(/cannot set memory\.\w+(\.max)?: the .*memory controller/);
      expect(readdirSync(parent, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? entry.name : []))).toEqual(["threads"]);
    } finally {
      rmdirSync(`${parent}/threads`);
      rmdirSync(parent);
    }
  });

  test("a delegated cgroup belongs to the user, with the files that the kernel lists, and no other", async () => {
    const { directory } = await started((config) => {
      config.process.user = { uid: 1000, gid: 1000 };
      config.linux.namespaces = [...config.linux.namespaces.filter(({ type }) => type !== "cgroup"), { type: "cgroup" }];
      config.mounts = config.mounts.filter(({ destination }) => destination !== MOUNT.destination);
      config.mounts.push(MOUNT);
    });
    const listed = read("/sys/kernel/cgroup/delegate").split("\n");
    const owned = readdirSync(directory).filter((file) => statSync(`${directory}/${file}`).uid === 1000);
    expect(statSync(directory)).toMatchObject({ uid: 1000, gid: 0 });
    expect(owned.sort()).toEqual(listed.filter((file) => existsSync(`${directory}/${file}`)).sort());
  });

  test("statistics are the kernel's numbers", async () => {
    const { name, directory } = await started((config) => {
      config.linux.resources = { memory: { limit: 64 * MIB, swap: 96 * MIB }, pids: { limit: 9 } };
    });
    const { data } = JSON.parse(await ok(["events", "--stats", name]));
    expect(data.memory.usage.limit).toBe(64 * MIB);
    if (existsSync(`${directory}/memory.swap.max`)) expect(data.memory.swap.limit).toBe(96 * MIB);
    expect(data.pids).toEqual({ current: 1, limit: 9 });
    expect(Object.keys(data.memory.raw)).toEqual(
      read(`${directory}/memory.stat`)
        .split("\n")
        .map((line) => line.split(" ")[0])
        .sort(),
    );
    for (const [part, file] of [
      [data.cpu, "cpu.pressure"],
      [data.memory, "memory.pressure"],
      [data.blkio, "io.pressure"],
    ] as const) {
      const readable =
        existsSync(`${directory}/${file}`) &&
        (() => {
          try {
            read(`${directory}/${file}`);
            return true;
          } catch {
            return false;
          }
        })();
      expect(part.psi !== undefined).toBe(readable);
    }
  });

  test("an OOM kill is one event", async () => {
    const name = id();
    const path = bundle((config) => {
      shell(config, "sleep 3; tail /dev/zero; exec sleep 1000");
      config.linux.resources = { memory: { limit: 16 * MIB, swap: 16 * MIB } };
    });
    await ok(["run", "-d", "-b", path, name]);
    const { pid } = JSON.parse(await ok(["state", name]));
    const stream = runtime(["events", "--interval", "1h", name]);
    await expect
      .poll(() => read(`${CGROUPS}${placeOf(pid)}/memory.events`), { timeout: 25_000, interval: 200 })
      .toMatch(/^oom_kill [1-9]/m);
    await ok(["kill", name, "KILL"]);
    expect(await stream).toEqual({ status: 0, stdout: `{"type":"oom","id":"${name}"}\n`, stderr: "" });
  });

  test("levels above the container get every controller, and are gone with it", async () => {
    const { name, directory } = await started((config) => {
      config.linux.cgroupsPath = `${CGROUP_PARENT}-deep/a/b`;
    });
    const all = read(`${CGROUPS}/cgroup.controllers`);
    expect(read(`${directory}/cgroup.controllers`)).toBe(all);
    await ok(["delete", "--force", name]);
    expect(existsSync(`${CGROUPS}${CGROUP_PARENT}-deep`)).toBe(false);
  });
});
