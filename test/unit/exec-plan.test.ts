/** The plans of exec, as text. Renew with `vitest run -u`. */
import { describe, expect, it } from "vitest";
import type { ProcessConfig } from "../../src/runtime/config/types.ts";
import { compileExec, type ExecInput } from "../../src/runtime/plan/index.ts";
import { explained } from "../support/explained.ts";

const PROCESS: ProcessConfig = {
  terminal: false,
  consoleRows: 0,
  consoleColumns: 0,
  args: ["id"],
  env: ["PATH=/bin"],
  cwd: "/",
  uid: 1000,
  gid: 1000,
  additionalGids: [10],
  umask: 0o022,
  capabilities: { bounding: 0x20n, effective: 0x20n, permitted: 0x20n, inheritable: 0n, ambient: 0n },
  noNewPrivileges: true,
  rlimits: [{ type: "RLIMIT_NOFILE", soft: 1024n, hard: 1024n, from: "/process/rlimits/0" }],
  oomScoreAdj: 100,
};

const INPUT: ExecInput = {
  process: PROCESS,
  target: { pid: 4242, startTime: 123456n },
  namespaces: ["pid", "mount", "ipc", "uts", "network"],
  root: "/",
  join: { tasks: ["/sys/fs/cgroup/memory/runt/c/tasks", "/sys/fs/cgroup/pids/runt/c/tasks"] },
  keyring: true,
  invocation: { id: "c", preserveFds: 0, listenFds: 0, pidFile: "/run/pid" },
  host: { stateDirectory: "/run/runt/c", rootless: false, cgroupVersion: 1 },
};

describe("exec", () => {
  it("in a container on a host with cgroup v1", async () => {
    await expect(explained(compileExec(INPUT))).toMatchFileSnapshot("../golden/exec.v1.plan");
  });

  it("with a terminal, a user namespace and cgroup v2", async () => {
    const plan = compileExec({
      ...INPUT,
      process: { ...PROCESS, terminal: true },
      namespaces: ["user", "pid", "mount", "cgroup"],
      join: { directory: "/sys/fs/cgroup/runt/c" },
      invocation: { id: "c", preserveFds: 1, listenFds: 0, consoleSocket: "/run/console.sock" },
      host: { ...INPUT.host, cgroupVersion: 2 },
    });
    await expect(explained(plan)).toMatchFileSnapshot("../golden/exec.v2.plan");
  });

  it("treats the process as the container's own, in the container's resctrl groups", async () => {
    const plan = compileExec({
      ...INPUT,
      process: {
        ...PROCESS,
        scheduler: { policy: 6, flags: 3, nice: 0, priority: 0, runtime: 1_000_000n, deadline: 5_000_000n, period: 10_000_000n },
        ioPriority: { class: 3, priority: 7 },
        execAffinity: { initial: [0], final: [1] },
      },
      memoryPolicy: { mode: 2, flags: 0x8000, nodes: [0, 1] },
      personality: 8,
      resctrl: { mount: "/sys/fs/resctrl", group: "gold", monitor: "gold/mon_groups/c" },
    });
    await expect(explained(plan)).toMatchFileSnapshot("../golden/exec.policies.plan");
  });

  it("on cgroup v2 has its first CPUs before it is in the cgroup", () => {
    const process = { ...PROCESS, execAffinity: { initial: [0], final: [] } };
    const { ops } = compileExec({ ...INPUT, process, join: { directory: "/sys/fs/cgroup/runt/c" } });
    expect(ops[0]).toMatchObject({ op: "helper.spawn", args: { cgroup: "" } });
    const intermediate = ops.filter(({ actor }) => actor === "intermediate").map(({ op }) => op);
    expect(intermediate.slice(intermediate.indexOf("process.affinity"))).toEqual([
      "process.affinity",
      "cgroup.open",
      "cgroup.join",
      "namespace.enter",
      "process.clone",
    ]);
    expect(ops.find(({ op }) => op === "cgroup.open")?.args).toMatchObject({ files: ["/sys/fs/cgroup/runt/c/cgroup.procs"] });
    expect(ops.filter(({ actor }) => actor === "init").map(({ op }) => op)).not.toContain("cgroup.join");
  });

  it("opens what the host has before it enters, and tells of the pid last", () => {
    const { ops } = compileExec(INPUT);
    const names = ops.map(({ op }) => op);
    for (const op of ["proc.open", "cgroup.open", "process.oomScoreAdj"] as const) {
      expect(names.indexOf(op)).toBeLessThan(names.indexOf("namespace.enter"));
    }
    expect(names.slice(-3)).toEqual(["process.exec", "sync.end", "pidfile.write"]);
    expect(names).not.toContain("directory.create");
  });

  it("enters by chroot where init was moved by chroot", () => {
    const names = compileExec({ ...INPUT, root: "/b/rootfs" }).ops.map(({ op }) => op);
    expect(names.slice(names.indexOf("root.current"), names.indexOf("root.current") + 2)).toEqual(["root.current", "root.enter"]);
  });
});
