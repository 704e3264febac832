/** scheduler, ioPriority, personality, memoryPolicy, intelRdt: the program and everything that exec starts has what config.json says. */
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { hasControllers } from "../support/cgroups.ts";
import type { Config } from "../support/config.ts";
import { isRoot, isRunt, shell, useHarness } from "../support/harness.ts";
import { program } from "../support/programs.ts";

const hasNuma = existsSync("/proc/self/numa_maps");
const MAPPING = [{ containerID: 0, hostID: 100000, size: 65536 }];

describe.skipIf(!isRoot || !isRunt)("how the kernel treats the process (needs root)", () => {
  const { bundle, directory, id, ok, root, runtime, until } = useHarness();

  /** `scheduling PID...` is there as /tools/scheduling. */
  function withTools(config: Config): void {
    const source = join(directory, "scheduling");
    if (!existsSync(source)) copyFileSync(program("scheduling"), source);
    config.mounts.push(
      { destination: "/tools", type: "tmpfs", source: "tmpfs" },
      { destination: "/tools/scheduling", type: "bind", source, options: ["bind"] },
    );
  }

  async function output(command: string, change: (config: Config) => void): Promise<string> {
    const path = bundle((config) => {
      shell(config, command);
      withTools(config);
      change(config);
    });
    return seen(await ok(["run", "-b", path, id()]));
  }

  /** Without the times: since Linux 6.12 the runtime of an ordinary process is its slice. */
  const seen = (text: string) => text.trimEnd().replace(/ runtime=\d+ deadline=\d+ period=\d+/, "");

  const ALL = {
    scheduler: { policy: "SCHED_BATCH", nice: 7, flags: ["SCHED_FLAG_RESET_ON_FORK"] },
    ioPriority: { class: "IOPRIO_CLASS_BE", priority: 6 },
  };
  function withAll(config: Config): void {
    Object.assign(config.process, ALL);
    Object.assign(config.linux, {
      personality: { domain: "LINUX32" },
      ...(hasNuma && { memoryPolicy: { mode: "MPOL_BIND", nodes: "0", flags: ["MPOL_F_STATIC_NODES"] } }),
    });
  }
  const SCRIPT = `cat /proc/self/personality; ${hasNuma ? "head -1 /proc/self/numa_maps | cut -d' ' -f2" : "echo bind=static:0"}; exec /tools/scheduling 1`;
  const SEEN = "00000008\nbind=static:0\npolicy=3 flags=1 nice=7 priority=0 io=2:6";

  test("the program has it, and what it starts", async () => {
    expect(await output(SCRIPT, withAll)).toBe(SEEN);
    // A child has it too, but for the flag, which is about children.
    expect(await output("/tools/scheduling 0; true", withAll)).toBe("policy=3 flags=0 nice=7 priority=0 io=2:6");
  });

  test("an I/O class without a priority has the highest, with a warning", async () => {
    const change = (config: Config) => void Object.assign(config.process, { ioPriority: { class: "IOPRIO_CLASS_BE" } });
    expect(await output("exec /tools/scheduling 0", change)).toMatch(/ io=2:0$/);
    const path = bundle((config) => {
      shell(config, "true");
      change(config);
    });
    expect((await runtime(["--debug", "run", "-b", path, id()])).stderr).toContain("process.ioPriority.priority: missing");
  });

  test("as an unprivileged user with a filter, too", async () => {
    const text = await output("exec /tools/scheduling 0", (config) => {
      config.process.user = { uid: 1000, gid: 1000 };
      Object.assign(config.process, {
        scheduler: { policy: "SCHED_OTHER", nice: -5 },
        ioPriority: { class: "IOPRIO_CLASS_RT", priority: 2 },
      });
      Object.assign(config.linux, {
        seccomp: {
          defaultAction: "SCMP_ACT_ALLOW",
          syscalls: [{ names: ["sched_setattr", "ioprio_set", "personality", "set_mempolicy"], action: "SCMP_ACT_KILL_PROCESS" }],
        },
      });
    });
    expect(text).toBe("policy=0 flags=0 nice=-5 priority=0 io=1:2");
  });

  test("exec gives it again, as it was when the container was made; a document may bring its own", async () => {
    const name = id();
    const path = bundle((config) => {
      shell(config, "exec sleep 1000");
      withTools(config);
      withAll(config);
    });
    await ok(["run", "-d", "-b", path, name]);
    await until(name, "running");
    writeFileSync(join(path, "config.json"), "{}");
    const script = SCRIPT.replace("scheduling 1", "scheduling 0");
    expect(seen(await ok(["exec", name, "sh", "-c", script]))).toBe(SEEN);

    const file = join(directory, "process.json");
    const exec = (process: object) => {
      writeFileSync(file, JSON.stringify({ args: ["sh", "-c", script], cwd: "/", env: ["PATH=/bin:/usr/bin"], ...process }));
      return runtime(["exec", "--process", file, name]);
    };
    expect(seen((await exec({})).stdout)).toBe(SEEN);
    const own = { scheduler: { policy: "SCHED_IDLE" }, ioPriority: { class: "IOPRIO_CLASS_IDLE", priority: 0 } };
    const { stdout } = await exec(own);
    expect(stdout).toContain("00000008\nbind=static:0\npolicy=5 flags=0 nice=0 ");
    expect(stdout).toContain("io=3:0");
    const refused = await exec({ scheduler: { policy: "SCHED_FIFO" } });
    expect(refused.stderr).toBe(
      "runt: exec failed: process.scheduler: priority 0 of SCHED_FIFO is not between 1 and 99 (at /process/scheduler/priority)\n",
    );
  });

  test.each<[string, (config: Config) => void, string]>([
    [
      "a policy that the kernel has only a number for",
      ({ process }) => Object.assign(process, { scheduler: { policy: "SCHED_ISO" } }),
      "process.scheduler: sched_setattr: invalid argument (this kernel has no such policy, or not with these values)",
    ],
    [
      "real time in a user namespace",
      (config) => {
        Object.assign(config.process, { scheduler: { policy: "SCHED_RR", priority: 1 } });
        config.linux.namespaces.push({ type: "user" });
        Object.assign(config.linux, { uidMappings: MAPPING, gidMappings: MAPPING });
      },
      "process.scheduler: sched_setattr: operation not permitted (a real-time policy",
    ],
    ...(hasControllers
      ? [
          [
            "a deadline on some of the CPUs",
            ({ process, linux }) => {
              Object.assign(process, { scheduler: { policy: "SCHED_DEADLINE", runtime: 42_000, deadline: 1_000_000, period: 1_000_000 } });
              linux.resources = { ...linux.resources, cpu: { cpus: "0" } };
            },
            "process.scheduler: sched_setattr: operation not permitted (a real-time policy, a deadline or a lower nice value needs CAP_SYS_NICE on the " +
              "host, which a user namespace does not give; a real-time policy needs linux.resources.cpu.realtimeRuntime on some kernels; with a deadline " +
              "the process scheduler can't be used together with AllowedCPUs",
          ] as [string, (config: Config) => void, string],
        ]
      : []),
    [
      "a memory node that is not there",
      ({ linux }) => Object.assign(linux, { memoryPolicy: { mode: "MPOL_BIND", nodes: "1000" } }),
      hasNuma
        ? "process.memoryPolicy: set_mempolicy: invalid argument (none of the nodes"
        : "process.memoryPolicy: set_mempolicy: function not implemented",
    ],
  ])("%s: the kernel's no is explained, and nothing stays", async (_, change, words) => {
    const name = id();
    const { status, stderr } = await runtime(["create", "-b", bundle(change), name]);
    expect(status).toBe(1);
    expect(stderr).toContain(`unable to start container process: error during container init: ${words}`);
    expect(existsSync(join(root, name))).toBe(false);
  });

  const isMounted = existsSync("/sys/fs/resctrl/schemata");
  test.skipIf(isMounted)("intelRdt without resctrl: refused before anything is done", async () => {
    const before = existsSync(root) ? readdirSync(root) : [];
    for (const intelRdt of [{}, { closID: "/" }, { closID: "gold", schemata: ["L3:0=f"], enableMonitoring: true }]) {
      const { status, stderr } = await runtime(["create", "-b", bundle((config) => Object.assign(config.linux, { intelRdt })), id()]);
      expect([status, stderr]).toEqual([
        1,
        "runt: linux.intelRdt: no resctrl filesystem is mounted (mount -t resctrl resctrl /sys/fs/resctrl)\n",
      ]);
    }
    expect(existsSync(root) ? readdirSync(root) : []).toEqual(before);
  });

  test("exec, update and delete go by the group in the record", async () => {
    const name = id();
    await ok(["run", "-d", "-b", bundle((config) => shell(config, "exec sleep 1000")), name]);
    await until(name, "running");
    // Files of this name are all that is needed of resctrl here; a group with a name stays.
    const group = join(directory, "resctrl/gold");
    mkdirSync(group, { recursive: true });
    writeFileSync(join(group, "tasks"), "");
    writeFileSync(join(group, "schemata"), "L3:0=f\n");
    const state = join(root, name, "state.json");
    const resctrl = { mount: join(directory, "resctrl"), group: "gold", made: true, keep: true };
    writeFileSync(state, JSON.stringify({ ...JSON.parse(readFileSync(state, "utf8")), resctrl }));

    const pidFile = join(directory, "exec.pid");
    await ok(["exec", "-d", "--pid-file", pidFile, name, "sleep", "1000"]);
    expect(readFileSync(join(group, "tasks"), "utf8")).toBe(readFileSync(pidFile, "utf8"));
    await ok(["update", "--l3-cache-schema", "L3:0=ff", "--mem-bw-schema", "", name]);
    expect(readFileSync(join(group, "schemata"), "utf8")).toBe("L3:0=ff\n");
    // Updates are all or nothing: the limit is refused after the schema was written.
    const refused = await runtime(["update", "--l3-cache-schema", "L3:0=01", "--cpu-period", "1", name]);
    expect(refused.status).toBe(1);
    expect(readFileSync(join(group, "schemata"), "utf8")).toBe("L3:0=ff\n");
    rmSync(join(group, "tasks"));
    expect((await runtime(["exec", name, "true"])).stderr).toContain(`exec failed: linux.intelRdt: cannot write process`);
    await ok(["delete", "--force", name]);
    expect(readdirSync(group)).toEqual(["schemata"]);
  });

  test("update of schemata needs a container that has them", async () => {
    const name = id();
    await ok(["run", "-d", "-b", bundle((config) => shell(config, "exec sleep 1000")), name]);
    const { status, stderr } = await runtime(["update", "--l3-cache-schema", "L3:0=f", name]);
    expect([status, stderr]).toEqual([1, "runt: updating a non-existent Intel RDT configuration is not supported\n"]);
    expect((await runtime(["update", "--mem-bw-schema", "0=50", name])).stderr).toContain('memBwSchema must start with "MB:"');
  });

  test("the versions that features names are accepted", async () => {
    const { ociVersionMin, ociVersionMax } = JSON.parse(await ok(["features"]));
    expect([ociVersionMin, ociVersionMax]).toEqual(["1.0.0", "1.3.0"]);
    for (const version of [ociVersionMin, ociVersionMax]) {
      expect(await output("echo run", (config) => void Object.assign(config, { ociVersion: version }))).toBe("run");
    }
  });
});
