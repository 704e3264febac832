/**
 * Where each part of a plan goes: init does what it can while the runtime makes its cgroups, and joins them as late as possible. Pure. Three questions
 * decide: how init comes into its cgroups (WAYS), when it joins them (JOINS), and what it does before that (WORK). Each answer is a row of places.
 */
import type { ContainerConfig } from "../config/index.ts";
import { cleanPath } from "../spec/index.ts";
import { awaitsCgroup, onlyClones, opensHostFiles } from "./actors.ts";
import type { CompileInput } from "./input.ts";

// The places of a scheduled plan, from the first to the last.
const FIRST = 0;
const HOST = 1;
const SPAWN = 2;
const CGROUPS = 3;
const TOLD = 4;
/** They hold for the program and for hooks only: init need not wait for them, unless it makes device nodes as a member of the cgroup of v1. */
const DEVICE_RULES = 5;
/** v2: what the intermediate does for init while the runtime makes the cgroup. */
const BEFORE_CLONE = 6;
const CLONE = 7;
const HOST_FILES = 8;
const INSIDE = 9;
/** What init does before it waits for its cgroups to mount them. */
const EARLY_WORK = 10;
const WAIT_TO_MOUNT = 11;
const FIFO_TO_MOUNT = 12;
const JOIN_TO_MOUNT = 13;
/** The first mount of cgroups, and the mounts that follow it. */
const CGROUP_MOUNTS = 14;
const DEVICES = 15;
const WAIT_TO_PIVOT = 16;
const FIFO_TO_PIVOT = 17;
const JOIN_TO_PIVOT = 18;
const PIVOT = 19;
const READY = 20;
const JOIN_LAST = 21;
const PROCESS = 22;
/** Of a row of WAYS: the row of JOINS says where. */
const AT_JOIN = -1;

/**
 * How init comes into its cgroups. "Alone": the intermediate does nothing but clone, so that it has its plan early, and init opens the files of the
 * host. An init that waits for something else first is told of its cgroups in the order in which it waits.
 */
const WAYS = {
  // No cgroup, or one that is of no concern to init.
  noneAlone: { by: "nothing", cgroups: CGROUPS, spawn: SPAWN, hostFiles: HOST_FILES, fifo: HOST_FILES, clone: CLONE, told: AT_JOIN },
  // v2: init is cloned into the cgroup, which is there before the clone, with its limits.
  born: { by: "birth", cgroups: HOST, spawn: SPAWN, hostFiles: INSIDE, fifo: INSIDE, clone: INSIDE, told: TOLD },
  bornAlone: { by: "birth", cgroups: HOST, spawn: FIRST, hostFiles: BEFORE_CLONE, fifo: HOST_FILES, clone: CLONE, told: TOLD },
  // v1: init opens the tasks files and joins by them.
  tasks: { by: "tasks", cgroups: CGROUPS, spawn: SPAWN, hostFiles: INSIDE, fifo: INSIDE, clone: INSIDE, told: AT_JOIN },
  tasksAlone: { by: "tasks", cgroups: CGROUPS, spawn: FIRST, hostFiles: HOST_FILES, fifo: AT_JOIN, clone: CLONE, told: TOLD },
  // The same, when the runtime makes something on the host before init may exist.
  tasksAloneLater: { by: "tasks", cgroups: CGROUPS, spawn: SPAWN, hostFiles: HOST_FILES, fifo: HOST_FILES, clone: CLONE, told: TOLD },
  // v1 with a directory of v2, which init is cloned into and which has no limits.
  hybridAlone: { by: "tasks", cgroups: CGROUPS, spawn: FIRST, hostFiles: BEFORE_CLONE, fifo: AT_JOIN, clone: CLONE, told: TOLD },
  // systemd makes the cgroup around init.
  unit: { by: "unit", cgroups: INSIDE, spawn: SPAWN, hostFiles: INSIDE, fifo: INSIDE, clone: INSIDE, told: AT_JOIN },
  unitAlone: { by: "unit", cgroups: INSIDE, spawn: SPAWN, hostFiles: HOST_FILES, fifo: HOST_FILES, clone: CLONE, told: AT_JOIN },
} as const;

/** When init joins its cgroups: before it mounts them, before the pivot, or as the last before it becomes the process. */
const JOINS = {
  toMount: { told: WAIT_TO_MOUNT, waits: WAIT_TO_MOUNT, fifo: FIFO_TO_MOUNT, tasks: JOIN_TO_MOUNT, joins: JOIN_TO_MOUNT },
  toPivot: { told: WAIT_TO_PIVOT, waits: WAIT_TO_PIVOT, fifo: FIFO_TO_PIVOT, tasks: JOIN_TO_PIVOT, joins: JOIN_TO_PIVOT },
  last: { told: WAIT_TO_PIVOT, waits: JOIN_LAST, fifo: FIFO_TO_PIVOT, tasks: JOIN_TO_PIVOT, joins: JOIN_LAST },
} as const;

/** What init does before the first mount of cgroups (workBefore). */
const WORK = {
  nothing: { devices: DEVICES, protectedPaths: PIVOT, boundingSet: PROCESS },
  devices: { devices: EARLY_WORK, protectedPaths: PIVOT, boundingSet: PROCESS },
  everything: { devices: EARLY_WORK, protectedPaths: EARLY_WORK, boundingSet: EARLY_WORK },
} as const;

export interface Schedule {
  readonly places: Readonly<Record<Part, number>>;
  /** Places of what the intermediate would do beside the clone, and init does instead. */
  readonly handedOver: readonly number[];
  /** The place of what the intermediate does for an init that inherits it. */
  readonly handedBack?: number;
}

/** undefined: nothing is moved. */
export function scheduleOf(input: CompileInput): Schedule | undefined {
  const isAlone = onlyClones(input);
  const rulesCome = rulesCanWait(input);
  const way = wayOf(input, isAlone);
  // A cgroup of v2 that is there before the helper: only its rules can be moved.
  if (way === undefined || (way === WAYS.born && !rulesCome)) return undefined;
  const awaits = way.hostFiles === BEFORE_CLONE;
  const index = way.by === "tasks" || way.by === "unit" ? firstCgroupMount(input) : -1;
  const work = workBefore(input, index);
  const isLast = work === "everything" && way.by === "tasks" && showsMade(input);
  const join = JOINS[isLast ? "last" : index < 0 ? "toPivot" : "toMount"];
  const early = WORK[work ?? "nothing"];
  const fifo = way.fifo === AT_JOIN ? join.fifo : way.fifo;
  // v1 has the rules one by one, and the first takes everything away: init makes its nodes before it joins, or when all of them are written.
  const rulesWait = rulesCome && way.by !== "unit" && (index < 0 || work !== undefined);
  const places = {
    host: HOST,
    birthplace: HOST,
    cgroups: way.cgroups,
    deviceRules: rulesWait ? DEVICE_RULES : way.cgroups,
    spawn: way.spawn,
    hostFiles: way.hostFiles,
    fifo,
    clone: way.clone,
    told: way.told === AT_JOIN ? join.told : way.told,
    waits: join.waits,
    tasks: join.tasks,
    joins: join.joins,
    inside: INSIDE,
    cgroupMounts: CGROUP_MOUNTS,
    devices: early.devices,
    pivot: PIVOT,
    protectedPaths: early.protectedPaths,
    finish: PIVOT,
    process: PROCESS,
    // init inherits it. A hook that init runs has what init may have.
    boundingSet: awaits && !input.config.hooks.createContainer ? BEFORE_CLONE : early.boundingSet,
    user: PROCESS,
    ready: isLast && isReadyEarly(input) ? READY : PROCESS,
    commit: PROCESS,
  };
  return { places, handedOver: isAlone ? [HOST_FILES, fifo] : [], ...(awaits && { handedBack: BEFORE_CLONE }) };
}

/** undefined: nothing can be moved for this init. */
function wayOf(input: CompileInput, isAlone: boolean): (typeof WAYS)[keyof typeof WAYS] | undefined {
  const { config, host, invocation } = input;
  const join = host.cgroup?.join;
  if (join !== undefined && "unit" in join) return isAlone ? WAYS.unitAlone : WAYS.unit;
  if (join !== undefined && "tasks" in join && opensHostFiles(config)) {
    if (!isAlone) return WAYS.tasks;
    if (awaitsCgroup(input)) return WAYS.hybridAlone;
    return host.resctrl || invocation.notifySocket !== undefined ? WAYS.tasksAloneLater : WAYS.tasksAlone;
  }
  if (join !== undefined && "directory" in join && !("tasks" in join)) return isAlone ? WAYS.bornAlone : WAYS.born;
  return isAlone ? WAYS.noneAlone : undefined;
}

/**
 * Whether init does nothing that device rules could refuse, as far as the configuration tells, and runs no program of the configuration before the
 * runtime has heard of it. The rules that every container gets allow the making of any node.
 */
function rulesCanWait({ config: { resources, hooks, mounts } }: CompileInput): boolean {
  if (hooks.createContainer || resources.onlyListedDevices) return false;
  for (const mount of mounts) if (mount.kind === "filesystem" && mount.source.startsWith("/")) return false;
  return true;
}

function firstCgroupMount({ config: { mounts } }: CompileInput): number {
  for (let index = 0; index < mounts.length; index++) if (mounts[index]!.kind === "cgroup") return index;
  return -1;
}

/** Whether the cgroup mounts show all directories that the runtime makes: each of them can be bound as soon as it is made, and the last is the end. */
function showsMade({ config, host: { cgroup, cgroupSources, cgroupVersion } }: CompileInput): boolean {
  if (cgroupVersion !== 1 || cgroupSources.length === 0 || cgroupSources.length < cgroup!.create.length) return false;
  return !config.namespaces.some(({ type, path }) => type === "cgroup" && path === undefined);
}

/**
 * run hears of whatever fails up to execve: the record can be committed while init joins its cgroups and becomes the program's user. Not before
 * the pivot, for `exec` may come as soon as there is a record. A pid in a file or a socket must be that of a container that starts.
 */
function isReadyEarly({ config, invocation }: CompileInput): boolean {
  const { mode, pidFile, pidfdSocket } = invocation;
  return mode === "run" && pidFile === undefined && pidfdSocket === undefined && !config.process?.terminal && !config.seccomp?.listener;
}

/** The parts of a plan, in their natural order: what the compile steps begin one after the other, and the schedule moves as a whole. */
export type Part =
  /** The runtime, on the host. */
  | "host"
  /** Hybrid hosts: the directory of v2 that init is cloned into. */
  | "birthplace"
  /** Making cgroups and limiting them. */
  | "cgroups"
  /** v1: what is written to device lists, as the last; v2: the device program. It holds for the program: init, which makes nodes, need not wait for it. */
  | "deviceRules"
  | "spawn"
  /** What of the host init needs beside its mounts: procfs, /dev/null. */
  | "hostFiles"
  | "fifo"
  /** What else the intermediate does, up to the clone, and what both sides do first after it. */
  | "clone"
  /** Where init is told that its cgroups are there, waits for that, opens the files to join by, and joins. */
  | "told"
  | "waits"
  | "tasks"
  | "joins"
  /** Namespaces, identity, the root, and the mounts in it. */
  | "inside"
  /** The first mount of cgroups, and the mounts behind it. */
  | "cgroupMounts"
  | "devices"
  /** Hooks and the pivot. */
  | "pivot"
  | "protectedPaths"
  /** The last of the root. */
  | "finish"
  | "process"
  | "boundingSet"
  | "user"
  | "ready"
  | "commit";

/**
 * What init can do before the first mount of cgroups instead of behind the last mount: only where
 * nothing can tell the difference. everything: beside the devices, read-only and masked paths, and the
 * bounding set. undefined: nothing. `index`: of that mount; negative if there is none.
 */
function workBefore({ config }: CompileInput, index: number): "devices" | "everything" | undefined {
  if (index < 0 || !config.namespaces.some(({ type, path }) => type === "mount" && path === undefined)) return undefined;
  const places: string[] = [];
  for (let at = index; at < config.mounts.length; at++) {
    const { kind, target } = config.mounts[at]!;
    const place = cleanPath(target);
    // Below a sysfs of the container's own no link of the image can lead elsewhere.
    if (kind !== "cgroup" || !place.startsWith("/sys/")) return undefined;
    places.push(place);
  }
  if (!hasOwn(config, index, "/sys", "sysfs") || !hasOwn(config, index, "/dev", "tmpfs")) return undefined;
  if (config.devices.some(({ path }) => !cleanPath(path).startsWith("/dev/"))) return undefined;
  return isProtectedApart(config, index, places) ? "everything" : "devices";
}

/** Whether a mount before `index` puts a file system of this type there. */
function hasOwn({ mounts }: ContainerConfig, index: number, place: string, fstype: string): boolean {
  for (let at = 0; at < index; at++) {
    const mount = mounts[at]!;
    if (mount.kind === "filesystem" && mount.fstype === fstype && cleanPath(mount.target) === place) return true;
  }
  return false;
}

/** No hook and no sysctl is between, and no path is above, at or below a cgroup mount. */
function isProtectedApart(config: ContainerConfig, index: number, places: readonly string[]): boolean {
  const { prestart, createRuntime, createContainer } = config.hooks;
  if (prestart || createRuntime || createContainer || config.sysctl.length > 0 || !hasOwn(config, index, "/proc", "proc")) return false;
  return isApart(config.readonlyPaths, places) && isApart(config.maskedPaths, places);
}

function isApart(paths: readonly string[], places: readonly string[]): boolean {
  for (const path of paths) {
    const clean = cleanPath(path);
    if (clean.startsWith("/proc/")) continue;
    if (!clean.startsWith("/sys/")) return false;
    for (const place of places) {
      if (`${place}/`.startsWith(`${clean}/`) || clean.startsWith(`${place}/`)) return false;
    }
  }
  return true;
}
