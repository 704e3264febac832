import { describe, expect, it } from "vitest";
import { deriveConfig } from "../../config/index.ts";
import type { Spec } from "../../spec/index.ts";
import type { CompileHost } from "../input.ts";
import { compile } from "./index.ts";

const HOST: CompileHost = { stateDirectory: "/run/runt/c", rootless: false, cgroupVersion: 2, cgroupSources: [] };
const RESCTRL = { mount: "/sys/fs/resctrl", group: "gold", monitor: "gold/mon_groups/c" };
const SETTINGS: Partial<Spec> = {
  process: {
    cwd: "/",
    args: ["sh"],
    scheduler: { policy: "SCHED_OTHER", nice: -5, flags: ["SCHED_FLAG_RESET_ON_FORK"] },
    ioPriority: { class: "IOPRIO_CLASS_RT", priority: 3 },
    rlimits: [{ type: "RLIMIT_CORE", soft: 0, hard: 0 }],
  },
  linux: { personality: { domain: "LINUX32" }, memoryPolicy: { mode: "MPOL_BIND", nodes: "0" } },
};

function opsOf(change: Partial<Spec>, facts: Partial<CompileHost> = {}) {
  const config = deriveConfig({ ociVersion: "1.3.0", root: { path: "rootfs" }, ...change }, { bundle: "/b" });
  const invocation = { id: "c", mode: "create", noPivot: false, noNewKeyring: false, preserveFds: 0, listenFds: 0 } as const;
  return compile({ config, host: { ...HOST, ...facts }, invocation }).ops;
}

describe("how the kernel treats the process", () => {
  it("is set by init while it still may, with all the rest of its work done", () => {
    const ops = opsOf(SETTINGS).filter(({ actor }) => actor === "init");
    const names = ops.map(({ op }) => op);
    const at = names.indexOf("process.scheduler");
    expect(names.slice(at, at + 6)).toEqual([
      "process.scheduler",
      "process.ioPriority",
      "process.memoryPolicy",
      "process.personality",
      "process.rlimit",
      "process.user",
    ]);
    expect(ops.slice(at, at + 4).map(({ args, from }) => [from, args])).toEqual([
      ["/process/scheduler", { policy: 0, flags: 1, nice: -5n, priority: 0, runtime: 0n, deadline: 0n, period: 0n }],
      ["/process/ioPriority", { class: 1, priority: 3 }],
      ["/linux/memoryPolicy", { mode: 2, flags: 0, nodes: [0] }],
      ["/linux/personality", { domain: 8 }],
    ]);
  });

  it("costs nothing that is not asked for, and needs a process", () => {
    const policies = ["process.scheduler", "process.ioPriority", "process.memoryPolicy", "process.personality", "process.affinity"];
    const found = (change: Partial<Spec>) => opsOf(change).filter(({ op }) => policies.includes(op));
    expect(found({ process: { cwd: "/", args: ["sh"], execCPUAffinity: { initial: "0", final: "0" } } })).toEqual([]);
    expect(found({ linux: SETTINGS.linux ?? {} })).toEqual([]);
  });
});

describe("linux.intelRdt", () => {
  const resctrlOps = (intelRdt: object, resctrl = RESCTRL) =>
    opsOf({ process: { cwd: "/", args: ["sh"] }, linux: { intelRdt } }, { resctrl }).filter(({ op }) => op.startsWith("resctrl."));

  it("makes the groups before the helper is started, and moves init before it is committed", () => {
    const names = opsOf({ linux: { intelRdt: { schemata: ["L3:0=f"] } } }, { resctrl: RESCTRL })
      .filter(({ actor }) => actor === "runtime")
      .map(({ op }) => op);
    const order = [
      "state.intent",
      "resctrl.prepare",
      "resctrl.monitor",
      "helper.spawn",
      "sync.wait",
      "resctrl.join",
      "resctrl.join",
      "state.commit",
    ];
    expect(names.filter((name, index) => order.includes(name) && (name !== "sync.wait" || index === names.indexOf(name)))).toEqual(order);
  });

  it("names group and monitoring group as they are below the mount point", () => {
    expect(resctrlOps({ closID: "gold", l3CacheSchema: "L3:0=f", enableMonitoring: true }).map(({ op, args }) => [op, args])).toEqual([
      ["resctrl.prepare", { mount: "/sys/fs/resctrl", group: "gold", create: true, schemata: ["L3:0=f"] }],
      ["resctrl.monitor", { mount: "/sys/fs/resctrl", group: "gold/mon_groups/c" }],
      ["resctrl.join", { mount: "/sys/fs/resctrl", group: "gold" }],
      ["resctrl.join", { mount: "/sys/fs/resctrl", group: "gold/mon_groups/c" }],
    ]);
  });

  it.each<[object, boolean]>([
    [{}, true],
    [{ closID: "gold" }, false],
    [{ closID: "/" }, false],
    [{ closID: "gold", memBwSchema: "MB:0=10" }, true],
  ])("%j: an absent group may be made: %s", (intelRdt, create) => {
    const { mount, group } = RESCTRL;
    expect(resctrlOps(intelRdt, { mount, group } as typeof RESCTRL)[0]?.args).toMatchObject({ create });
  });

  it("is not touched when it is not asked for", () => {
    expect(opsOf({}).filter(({ op }) => op.startsWith("resctrl."))).toEqual([]);
  });
});
