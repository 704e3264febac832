/** Whatever a plan may be compiled from, made of random parts: the same input for the same seed. Nothing of it has to exist. */
import { deriveConfig } from "../../src/runtime/config/index.ts";
import type { CgroupSetup, CompileHost, CompileInput } from "../../src/runtime/plan/index.ts";
import type { Spec, SpecMount } from "../../src/runtime/spec/index.ts";
import { random } from "./random.ts";

interface Dice {
  /** One in n. */
  once(n: number): boolean;
  pick<T>(from: readonly T[]): T;
  /** Each with the chance of one in n. */
  some<T>(n: number, from: readonly T[]): T[];
}

function diceOf(seed: number): Dice {
  const below = random(seed);
  for (let warm = 0; warm < 4; warm++) below(2);
  return {
    once: (n) => below(n) === 0,
    pick: (from) => from[below(from.length)]!,
    some: (n, from) => from.filter(() => below(n) === 0),
  };
}

const HIERARCHIES = ["cpu,cpuacct", "memory", "devices", "systemd"];
const HOOK = [{ path: "/bin/hook" }];

export function planInput(seed: number): CompileInput {
  const dice = diceOf(seed);
  const version = dice.once(4) ? 2 : 1;
  const rootless = dice.once(8);
  const config = deriveConfig(specOf(dice, rootless), { bundle: "/b" });
  const host: CompileHost = {
    stateDirectory: "/run/x",
    rootless,
    ...(rootless && { caller: { uid: 1000, gid: 1000, newuidmap: "/bin/newuidmap", newgidmap: "/bin/newgidmap" } }),
    cgroupVersion: version,
    cgroupSources: sourcesOf(dice, version),
    ...cgroupOf(dice, version),
    ...(config.intelRdt && { resctrl: { mount: "/sys/fs/resctrl", group: "x" } }),
  };
  const hasOwnMounts = config.namespaces.some(({ type, path }) => type === "mount" && path === undefined);
  const invocation: CompileInput["invocation"] = {
    id: "x",
    mode: dice.pick(["create", "run"]),
    noPivot: dice.once(8),
    noNewKeyring: dice.once(2),
    preserveFds: 0,
    listenFds: 0,
    ...(config.process?.terminal && dice.once(2) && { consoleSocket: "/c" }),
    ...(dice.once(4) && { pidFile: "/p" }),
    ...(dice.once(6) && { pidfdSocket: "/s" }),
    ...(hasOwnMounts && dice.once(6) && { notifySocket: "/n" }),
  };
  return { config, invocation, host };
}

function specOf(dice: Dice, rootless: boolean): Spec {
  const { once, pick, some } = dice;
  const namespaces = namespacesOf(dice);
  const hasNew = (name: string) => namespaces.some(({ type, path }) => type === name && path === undefined);
  const isUser = hasNew("user");
  const ids = [{ containerID: 0, hostID: 1000, size: 1 }];
  const kinds = some(16, ["prestart", "createRuntime", "createContainer", "startContainer", "poststart"]);
  return {
    ociVersion: "1.2.0",
    root: { path: "rootfs", readonly: once(2) },
    process: {
      args: ["true"],
      cwd: pick(["/", "/work"]),
      user: { uid: pick([0, 1000]), gid: 0 },
      env: some(2, ["HOME=/root", "PATH=/bin"]),
      terminal: once(5),
      noNewPrivileges: once(2),
      ...(once(6) ? {} : { capabilities: {} }),
      ...(once(4) && { oomScoreAdj: 10 }),
      ...(once(4) && { rlimits: [{ type: "RLIMIT_NOFILE" as const, soft: 10n, hard: 10n }] }),
      ...(once(5) && { apparmorProfile: "p" }),
    },
    ...(once(2) && { hostname: "h" }),
    mounts: mountsOf(dice, !isUser && !rootless),
    hooks: Object.fromEntries(kinds.map((kind) => [kind, HOOK])),
    linux: {
      namespaces,
      ...(isUser && { uidMappings: ids, gidMappings: ids }),
      maskedPaths: some(3, ["/proc/kcore", "/proc/keys", "/sys/firmware"]).concat(some(20, ["/sys/fs/cgroup/memory", "/etc/shadow"])),
      readonlyPaths: some(3, ["/proc/sys", "/proc/bus"]).concat(some(20, ["/sys", "/etc"])),
      ...(hasNew("network") && once(12) && { sysctl: { "net.ipv4.ip_forward": "1" } }),
      devices: some(12, ["/dev/fuse", "/dev/net/tun", "/data/null"]).map((path) => ({ path, type: "c" as const, major: 1, minor: 3 })),
      ...(once(6) && { rootfsPropagation: pick(["rprivate", "rshared", "unbindable"]) }),
      ...(once(20) && { netDevices: { eth0: {} } }),
      ...(once(20) && { intelRdt: { closID: "x" } }),
      ...(once(3) && { seccomp: filterOf(dice) }),
    },
  } as Spec;
}

function namespacesOf({ once, some }: Dice): { type: string; path?: string }[] {
  const made = some(2, ["pid", "network", "ipc", "uts", "cgroup"]).map((type) => ({ type, ...(once(20) && { path: `/ns/${type}` }) }));
  const mount = once(20) ? [] : [{ type: "mount", ...(once(20) && { path: "/ns/mount" }) }];
  return [...made, ...mount, ...some(12, ["user", "time"]).map((type) => ({ type }))];
}

/** Mostly what engines write, so that cgroups are often the last mount. */
function mountsOf({ once, pick, some }: Dice, mapsIds: boolean): SpecMount[] {
  const usual: SpecMount[] = [
    { destination: "/proc", type: "proc", source: "proc" },
    { destination: "/dev", type: "tmpfs", source: "tmpfs" },
    { destination: "/dev/pts", type: "devpts", source: "devpts" },
    { destination: "/sys", type: "sysfs", source: "sysfs" },
  ];
  const cgroup: SpecMount = { destination: pick(["/sys/fs/cgroup", "/sys/fs/cgroup", "/cgroup"]), type: "cgroup", source: "cgroup" };
  const ids = [{ containerID: 0, hostID: 5, size: 1 }];
  const more: SpecMount[] = [
    { destination: "/data", type: "bind", source: "/s", options: ["rbind"] },
    { destination: "/dev/shm", type: "tmpfs", source: "shm", options: ["ro"] },
    { destination: "/copy", type: "tmpfs", source: "tmpfs", options: ["tmpcopyup"] },
    ...(!mapsIds
      ? []
      : [{ destination: "/mapped", type: "bind", source: "/m", options: ["bind", "idmap"], uidMappings: ids, gidMappings: ids }]),
  ];
  return [
    ...usual.filter(() => !once(24)),
    ...some(6, more),
    ...(once(5) ? [] : [{ ...cgroup, ...(once(3) && { options: ["ro"] }) }]),
    ...some(
      24,
      more.map((mount) => ({ ...mount, destination: `${mount.destination}-late` })),
    ),
  ];
}

function filterOf({ once }: Dice): object {
  const notifies = once(4);
  return {
    defaultAction: "SCMP_ACT_ALLOW",
    ...(notifies && { listenerPath: "/l" }),
    syscalls: [{ names: ["mkdir"], action: notifies ? "SCMP_ACT_NOTIFY" : "SCMP_ACT_ERRNO" }],
  };
}

function sourcesOf({ once }: Dice, version: 1 | 2): CompileHost["cgroupSources"] {
  if (version === 2) return [{ mountpoint: "/cg", name: "", controllers: [], directory: "/cg/x" }];
  return HIERARCHIES.filter(() => !once(8)).map((name) => {
    return { mountpoint: `/cg/${name}`, name, controllers: name.split(","), directory: `/cg/${name}/${once(8) ? "other" : "x"}` };
  });
}

function cgroupOf(dice: Dice, version: 1 | 2): { readonly cgroup?: CgroupSetup } {
  const { once } = dice;
  if (once(8)) return {};
  const write = (file: string, from: string) => ({ path: `/cg/${file}`, value: "1", from });
  const limits = [write("memory/x/memory.limit_in_bytes", "/linux/resources/memory/limit")];
  const isUnit = once(4);
  if (version === 2) {
    const join = isUnit ? unit([]) : { directory: "/cg/x" };
    return { cgroup: { create: [{ path: "/cg/x" }], writes: limits, join, devices: { path: "/cg/x", rules: ["c:1:3:rwm:allow"] } } };
  }
  const rules = once(4) ? [] : ["devices.deny", "devices.allow"].map((name) => write(`devices/x/${name}`, "/linux/resources/devices"));
  const places = HIERARCHIES.map((name) => `/cg/${name}/x`);
  const hybrid = once(3) && !isUnit ? { unified: "/cg/unified/x" } : {};
  const tasks = { tasks: places.map((path) => `${path}/tasks`), ...(hybrid.unified && { directory: hybrid.unified }) };
  const join = isUnit ? unit(["/cg/memory/x/tasks"]) : tasks;
  return { cgroup: { create: places.map((path) => ({ path })), writes: [...limits, ...rules], join, ...hybrid } };
}

function unit(attach: readonly string[]): CgroupSetup["join"] {
  return { unit: "x.scope", properties: [], withInit: true, socket: "/bus", direct: true, attach };
}
