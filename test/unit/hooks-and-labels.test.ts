/** Where hooks, labels and id maps stand in a plan. */
import { describe, expect, it } from "vitest";
import { cgroupSources, compileCgroup } from "../../src/runtime/cgroup/index.ts";
import { deriveConfig } from "../../src/runtime/config/index.ts";
import { type CompileHost, compile, hookState, type Invocation, type Op } from "../../src/runtime/plan/index.ts";
import type { Spec } from "../../src/runtime/spec/index.ts";
import type { OpName } from "../../src/shared/protocol/index.ts";
import { HYBRID_HOST, UNIFIED_HOST } from "../support/hosts.ts";

const INVOCATION: Invocation = { id: "c", mode: "create", noPivot: false, noNewKeyring: false, preserveFds: 0, listenFds: 0 };
const PROCESS = { cwd: "/", args: ["sh"], env: ["PATH=/bin"] };

function operations(change: Partial<Spec>, invocation: Partial<Invocation> = {}, facts: Partial<CompileHost> = {}): readonly Op[] {
  const spec: Spec = {
    ociVersion: "1.2.0",
    root: { path: "rootfs" },
    process: PROCESS,
    linux: { namespaces: [{ type: "mount" }] },
    ...change,
  };
  const config = deriveConfig(spec, { bundle: "/b" });
  const host: CompileHost = {
    stateDirectory: "/run/runt/c",
    rootless: false,
    cgroupVersion: 1,
    cgroupSources: cgroupSources(HYBRID_HOST, "/c"),
    ...facts,
  };
  return compile({ config, host, invocation: { ...INVOCATION, ...invocation } }).ops;
}
const only = <K extends OpName>(ops: readonly Op[], name: K) => ops.filter(({ op }) => op === name) as unknown as readonly Op<K>[];

describe("hooks", () => {
  const hook = [{ path: "/h" }];
  const ALL = { prestart: hook, createRuntime: hook, createContainer: hook, startContainer: hook, poststart: hook, poststop: hook };
  const names = (ops: readonly Op[]) => ops.map(({ actor, op, args }) => `${actor} ${op}${"kind" in args ? ` ${args.kind}` : ""}`);

  it("stand between the mounts and the pivot, and around the start", () => {
    const ops = names(operations({ hooks: ALL }, { mode: "run" }));
    const at = (name: string) => ops.indexOf(name);
    const first = at("runtime hook.run prestart");
    expect(ops.slice(first - 2, first + 5)).toEqual([
      "init sync.send",
      "runtime sync.wait",
      "runtime hook.run prestart",
      "runtime hook.run createRuntime",
      "runtime sync.send",
      "init sync.wait",
      "init hook.run createContainer",
    ]);
    expect(at("init symlink.create")).toBeLessThan(first);
    expect(at("init hook.run createContainer")).toBeLessThan(at("init root.pivot"));
    expect(ops.slice(-4)).toEqual(["init hook.run startContainer", "init process.exec", "runtime sync.end", "runtime hook.run poststart"]);
  });

  it("need no rendezvous without hooks of the runtime's", () => {
    const without = operations({ hooks: { createContainer: hook } });
    expect(only(without, "sync.send")).toHaveLength(only(operations({}), "sync.send").length);
  });

  it("report to start through a file that init keeps open", () => {
    const ops = operations({ hooks: ALL });
    const report = only(ops, "file.open").find(({ args }) => args.path.endsWith("/start.error"));
    expect(report?.args.slot).toBe(only(ops, "hook.run").find(({ args }) => args.kind === "startContainer")?.args.report);
    expect(only(ops, "descriptors.sweep")[0]?.args.keep).toEqual([report?.args.slot]);
    expect(only(ops, "hook.run").map(({ args }) => args.kind)).not.toContain("poststart");
  });

  it("have an environment of their own, the runtime's or the process's", () => {
    const own = [{ path: "/h", env: ["A=1"] }];
    const [caller, given, process] = only(
      operations({ hooks: { prestart: hook, createRuntime: own, startContainer: hook } }, { listenFds: 1 }),
      "hook.run",
    );
    expect(caller?.args).toMatchObject({ inheritEnv: true, env: [], home: false });
    expect(given?.args).toMatchObject({ inheritEnv: false, env: ["A=1"], home: false });
    expect(process?.args).toMatchObject({ inheritEnv: false, env: ["PATH=/bin", "LISTEN_FDS=1", "LISTEN_PID=1"], home: true });
  });

  it("get the filter of the program in the container, unless init has it already", () => {
    const filter = (listens: boolean, noNewPrivileges: boolean) => {
      const { action, rest } = listens
        ? { action: "SCMP_ACT_NOTIFY", rest: { listenerPath: "/s" } }
        : { action: "SCMP_ACT_ERRNO", rest: {} };
      const seccomp = {
        defaultAction: "SCMP_ACT_ALLOW",
        flags: ["SECCOMP_FILTER_FLAG_LOG"],
        syscalls: [{ names: ["mkdir"], action }],
        ...rest,
      };
      const ops = operations({ hooks: ALL, linux: { seccomp }, process: { ...PROCESS, noNewPrivileges } } as Partial<Spec>);
      const hooks = only(ops, "hook.run").map(({ args }) => [args.kind, args.filtered, args.filterFlags, args.raise]);
      expect(hooks.slice(0, 3).every(([, filtered]) => filtered === false)).toBe(true);
      return hooks[3];
    };
    expect(filter(false, true)).toEqual(["startContainer", true, 2, false]);
    expect(filter(false, false)).toEqual(["startContainer", true, 2, true]);
    expect(filter(true, true)).toEqual(["startContainer", false, 0, false]);
  });

  it("get a state document whose pid is filled in", () => {
    const subject = { ociVersion: "1.2.0", id: "c", bundle: '/b "quoted"', annotations: { key: "value" } };
    const { statePrefix, stateSuffix } = hookState(subject, "created");
    expect(JSON.parse(`${statePrefix}42${stateSuffix}`)).toEqual({ ...subject, status: "created", pid: 42 });
    const { statePrefix: before, stateSuffix: after } = hookState({ ...subject, annotations: {} }, "stopped");
    expect(JSON.parse(`${before}0${after}`)).not.toHaveProperty("annotations");
  });
});

describe("labels", () => {
  const process = { ...PROCESS, apparmorProfile: "p", selinuxLabel: "u:r:t:s0:c1,c2" };

  it("are written through the host's procfs, opened before the clone", () => {
    const ops = operations({ process });
    expect(only(ops, "proc.open")).toHaveLength(1);
    expect(only(ops, "label.set").map(({ args }) => [args.file, args.fallback, args.value])).toEqual([
      ["keycreate", "", process.selinuxLabel],
      ["keycreate", "", ""],
      ["exec", "", process.selinuxLabel],
      ["apparmor/exec", "exec", "exec p"],
    ]);
    const withoutKeyring = only(operations({ process }, { noNewKeyring: true }), "label.set");
    expect(withoutKeyring.map(({ args }) => args.file)).toEqual(["exec", "apparmor/exec"]);
  });

  it("leave AppArmor alone where it is off", () => {
    const unconfined = operations({ process: { ...PROCESS, apparmorProfile: "unconfined" } }, {}, { apparmor: false });
    expect(only(unconfined, "label.set")).toEqual([]);
  });

  it("go to new filesystems as a mount option, once, and not to the kernel's own", () => {
    const mount = (type: string, options: string[] = []) => ({ destination: `/${type}`, type, source: type, options });
    const mounts = [mount("tmpfs", ["mode=755"]), mount("proc"), mount("mqueue"), mount("devpts", ["context=own"])];
    const ops = operations({ mounts, linux: { namespaces: [{ type: "mount" }], mountLabel: "u:o:l:s0:c1,c2" } });
    expect(only(ops, "mount.filesystem").map(({ args }) => args.data)).toEqual([
      ["mode=755", "context=u:o:l:s0:c1,c2"],
      [],
      [],
      ["context=own"],
    ]);
  });
});

describe("id maps of a caller without rights", () => {
  const caller = { uid: 1000, gid: 100, newuidmap: "/usr/bin/newuidmap", newgidmap: "/usr/bin/newgidmap" };
  const own = (hostID: number) => [{ containerID: 0, hostID, size: 1 }];
  const many = (hostID: number) => [...own(hostID), { containerID: 1, hostID: 100_000, size: 65_536 }];
  const maps = (uidMappings: ReturnType<typeof own>, gidMappings: ReturnType<typeof own>, programs: object = caller) => {
    const linux = { namespaces: [{ type: "mount" }, { type: "user" }], uidMappings, gidMappings };
    const ops = operations({ linux }, {}, { rootless: true, caller: { uid: 1000, gid: 100, ...programs } });
    const { uidProgram, gidProgram, setgroups } = only(ops, "idmap.write")[0]!.args;
    expect(only(ops, "process.user")[0]?.args.setgroups).toBe(setgroups);
    return { uidProgram, gidProgram, setgroups };
  };

  it("are written directly when they hold its own id alone", () => {
    expect(maps(own(1000), own(100), {})).toEqual({ uidProgram: "", gidProgram: "", setgroups: false });
  });

  it("are left to newuidmap and newgidmap beyond that", () => {
    expect(maps(many(1000), many(100))).toEqual({ uidProgram: caller.newuidmap, gidProgram: caller.newgidmap, setgroups: true });
    expect(maps(own(1001), own(100))).toEqual({ uidProgram: caller.newuidmap, gidProgram: "", setgroups: false });
  });

  it("are refused when the program is missing", () => {
    expect(() => maps(many(1000), own(100), {})).toThrow("needs newuidmap, which is not installed");
    expect(() => maps(own(1000), many(100), {})).toThrow("needs newgidmap, which is not installed");
  });
});

describe("a cgroup mount of v2", () => {
  const mounts = [{ destination: "/sys/fs/cgroup", type: "cgroup", source: "cgroup", options: ["ro"] }];
  const sources = (types: string[], facts: Partial<CompileHost> = {}) => {
    const linux = { namespaces: types.map((type) => ({ type })), ...(types.includes("user") && { uidMappings: MAP, gidMappings: MAP }) };
    const ops = operations({ mounts, linux }, {}, { cgroupVersion: 2, cgroupSources: cgroupSources(UNIFIED_HOST, "/c"), ...facts });
    const { slot } = (only(ops, "mount.cgroup")[0] ?? only(ops, "mount.bind")[0])!.args;
    return only(ops, "mount.open").find(({ args }) => args.slot === slot);
  };
  const namesOf = (types: string[]) => {
    const linux = { namespaces: types.map((type) => ({ type })) };
    return operations({ mounts, linux }, {}, { cgroupVersion: 2, cgroupSources: cgroupSources(UNIFIED_HOST, "/c"), cgroup }).map(
      ({ op }) => op,
    );
  };
  const MAP = [{ containerID: 0, hostID: 0, size: 1 }];
  const cgroup = compileCgroup(UNIFIED_HOST, "/c", { hugepageLimits: [], rdma: {}, unified: {}, devices: [] }, { rootless: false });

  it("has nothing to fall back on outside a user namespace: nothing can refuse it", () => {
    expect(sources(["mount", "cgroup"], { cgroup })).toBeUndefined();
  });

  it("is the host's mount in the host's cgroup namespace: another would set the options of that one", () => {
    expect(namesOf(["mount"])).not.toContain("mount.cgroup");
    expect(sources(["mount"], { cgroup })).toMatchObject({ actor: "init", args: { source: "/sys/fs/cgroup" } });
    expect(sources(["mount", "user"], { cgroup })).toMatchObject({ actor: "intermediate", args: { source: "/sys/fs/cgroup" } });
    const caller = { uid: 0, gid: 0 };
    expect(sources(["mount", "user"], { rootless: true, caller })).toMatchObject({ actor: "init", args: { source: "/sys/fs/cgroup" } });
  });

  it("falls back on the own directory in a user namespace", () => {
    expect(sources(["mount", "user", "cgroup"], { cgroup })).toMatchObject({ actor: "intermediate", args: { source: "/sys/fs/cgroup/c" } });
  });

  it("is one of its own in a cgroup namespace that is joined", () => {
    const linux = { namespaces: [{ type: "mount" }, { type: "cgroup", path: "/proc/1/ns/cgroup" }] };
    const ops = operations({ mounts, linux }, {}, { cgroupVersion: 2, cgroupSources: cgroupSources(UNIFIED_HOST, "/c"), cgroup });
    expect(only(ops, "mount.cgroup")).toHaveLength(1);
  });

  it("shows nothing of the host's to a namespace without a cgroup of its own", () => {
    expect(sources(["mount", "user", "cgroup"], { rootless: true, caller: { uid: 0, gid: 0 } })).toBeUndefined();
  });
});
