/**
 * Where each part of a plan goes: init does what it can while the runtime makes its cgroups, and joins them as late as possible. Pure. What every
 * operation needs is in needs.ts, which the tests hold against the plans that come out.
 */
import { awaitsCgroup, onlyClones, opensHostFiles } from "../actors.ts";
import type { CompileInput } from "../input.ts";
import type { Part } from "./parts.ts";
import { workBefore } from "./work-before.ts";

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
const EARLY_WORK = 11;
/** Of three: the wait, exec.fifo, the files to join by. */
const JOIN_TO_MOUNT = 12;
/** The first mount of cgroups, and the mounts that follow it. */
const CGROUP_MOUNTS = 15;
const DEVICES = 16;
/** Of three, as before. */
const JOIN_TO_PIVOT = 17;
const PIVOT = 20;
const READY = 21;
const JOIN_LAST = 22;
const PROCESS = 23;

export interface Schedule {
  readonly places: Readonly<Record<Part, number>>;
  /** Places of what the intermediate would do beside the clone, and init does instead. */
  readonly handedOver: readonly number[];
  /** The place of what the intermediate does for an init that inherits it. */
  readonly handedBack?: number;
}

/** undefined: nothing is moved. */
export function scheduleOf(input: CompileInput): Schedule | undefined {
  const { config, host, invocation } = input;
  const join = host.cgroup?.join;
  // init is cloned into a cgroup of v2: that is there before the clone, with its limits. (That of a hybrid host has none.)
  const isBorn = join !== undefined && "directory" in join && !("tasks" in join);
  const opensTasks = join !== undefined && "tasks" in join && opensHostFiles(config);
  const isUnit = join !== undefined && "unit" in join;
  const joinsLate = opensTasks || isUnit;
  const isAlone = onlyClones(input);
  const rulesCome = rulesCanWait(input);
  if (!joinsLate && !isAlone && !(isBorn && rulesCome)) return undefined;
  // Until it waits for its cgroups init finds all that it needs of the host there already. One that is born in them comes behind all of that.
  const isTold = isAlone && opensTasks;
  const awaits = awaitsCgroup(input);
  const isFirst = awaits || (isTold && !host.resctrl && invocation.notifySocket === undefined);
  const index = joinsLate ? firstCgroupMount(input) : -1;
  const work = workBefore(input, index);
  const isLast = work === "everything" && opensTasks && showsMade(input);
  const wait = index < 0 || isLast ? JOIN_TO_PIVOT : JOIN_TO_MOUNT;
  // v1 has the rules one by one, and the first takes everything away: init makes its nodes before it joins, or when all of them are written.
  const rulesWait = rulesCome && (index < 0 || work !== undefined);
  // Behind the wait, and before the files to join by.
  const fifo = isFirst && opensTasks ? wait + 1 : isAlone ? HOST_FILES : INSIDE;
  const early = (part: number): number => (work === "everything" ? EARLY_WORK : part);
  const cgroups = isUnit ? INSIDE : isBorn ? HOST : CGROUPS;
  const places = {
    host: HOST,
    birthplace: HOST,
    cgroups,
    deviceRules: rulesWait && !isUnit ? DEVICE_RULES : cgroups,
    spawn: isFirst ? FIRST : SPAWN,
    hostFiles: awaits ? BEFORE_CLONE : isAlone ? HOST_FILES : INSIDE,
    fifo,
    clone: isAlone ? CLONE : INSIDE,
    // An init that waits for something else first gets its messages in the order in which it waits.
    told: isTold || isBorn ? TOLD : wait,
    waits: isLast ? JOIN_LAST : wait,
    tasks: wait + 2,
    joins: isLast ? JOIN_LAST : wait + 2,
    inside: INSIDE,
    cgroupMounts: CGROUP_MOUNTS,
    devices: work === undefined ? DEVICES : EARLY_WORK,
    pivot: PIVOT,
    protectedPaths: early(PIVOT),
    finish: PIVOT,
    process: PROCESS,
    // A hook that init runs has what init may have.
    boundingSet: awaits && !config.hooks.createContainer ? BEFORE_CLONE : early(PROCESS),
    user: PROCESS,
    ready: isLast && isReadyEarly(input) ? READY : PROCESS,
    commit: PROCESS,
  };
  return { places, handedOver: isAlone ? [HOST_FILES, fifo] : [], ...(awaits && { handedBack: BEFORE_CLONE }) };
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
