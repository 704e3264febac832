/**
 * The state record of one container: what is written to ROOT/ID/state.json. Other builds of runt read it and rewrite it, older ones and newer
 * ones: docs/decisions/0022-state-versions.md says what may change, and when which number grows.
 */
import type { CgroupRef } from "../cgroup/index.ts";
import { RuntError } from "../errors/index.ts";
import type { MovedDevice } from "../network/index.ts";

/** Grows when a reader that does not know the change would do something wrong: it refuses. */
export const STATE_SCHEMA = 1;
/** Grows with every other change. A reader does not mind a larger one; a smaller one it brings up to its own (`migrate`). */
export const STATE_MINOR = 4;

/** Its fields are those of CgroupRef: the room of cgroups works with the record as it is. */
export interface CgroupRecord extends CgroupRef {
  /** The transient unit that it belongs to, and the socket by which its manager was reached. */
  readonly systemd?: { readonly unit: string; readonly socket: string; readonly direct: boolean };
}

/** Groups of the mounted resctrl filesystem, by path below the mount point. */
export interface ResctrlRecord {
  readonly mount: string;
  readonly group: string;
  readonly monitor?: string;
  /** The group was absent before. */
  readonly made: boolean;
  /** It outlives the container. */
  readonly keep: boolean;
}

/**
 * The root file system bound on itself, of a container that shares the caller's mount namespace and mounts: all its mounts are in this one.
 * Recorded before it is attached, so that it may never have been.
 */
export interface RootMountRecord {
  /** As mountinfo has it; given to another mount when this one is gone. */
  readonly id: number;
  /** Decimal: given to no other mount before the next boot. undefined: the kernel is older than 6.8. */
  readonly unique?: string;
  /** Device and inode of its root, "DEVICE:INODE", decimal. */
  readonly directory: string;
  /** The mount namespace it is attached in, as "mnt:[INODE]". */
  readonly namespace: string;
  /** /proc/sys/kernel/random/boot_id: after another boot it is gone. */
  readonly boot: string;
}

/** The machine that a container is in: its own, or that of another container, which it has joined. */
export interface MachineRecord {
  /** Path of the monitor's socket in the root of the container's first process on the host. */
  readonly socket: string;
  /** Size of the machine. undefined: the container was made by an older build, and has no process. */
  readonly memoryMiB?: number;
  /** The first process of the container whose machine it is: by pid, and by start time as `startTime` has it. undefined: the machine is its own. */
  readonly joined?: { readonly pid: number; readonly startTime: string };
}

/** What exec takes over from the configuration: config.json may have changed since. */
export interface ExecRecord {
  /** True: the build that made the container kept nothing for exec; the rest means nothing then. */
  readonly unknown?: true;
  /** ProcessConfig with 64-bit numbers as decimal strings (src/runtime/config/process.ts); absent when config.json has no process. */
  readonly process?: Readonly<Record<string, unknown>>;
  /** Types of linux.namespaces. */
  readonly namespaces: readonly string[];
  /** Types of those that were joined by path; undefined: none. */
  readonly joined?: readonly string[];
  /** True: init is not in the root of its mount namespace but was moved into rootfs by chroot. */
  readonly chroot: boolean;
  /** True: init has a session keyring of its own. */
  readonly keyring: boolean;
  /** How to load ROOT/ID/seccomp.bpf (SeccompFilter); absent when the container has no filter. */
  readonly seccomp?: {
    readonly flags: number;
    readonly roomForInit: boolean;
    readonly listener?: { readonly path: string; readonly metadata: string };
  };
  /** linux.memoryPolicy (MemoryPolicy) and linux.personality. */
  readonly memoryPolicy?: { readonly mode: number; readonly flags: number; readonly nodes: readonly number[] };
  readonly personality?: number;
}

export interface HookRecord {
  readonly path: string;
  readonly args: readonly string[];
  readonly env?: readonly string[];
  /** Seconds; 0 = none. */
  readonly timeout: number;
}

/** The hooks that come after create: config.json may have changed by then. */
export interface HooksRecord {
  /** True: `start` has to wait for hooks inside. */
  readonly startContainer: boolean;
  readonly poststart: readonly HookRecord[];
  readonly poststop: readonly HookRecord[];
}

/** Network devices that create has moved, or is about to move, into a namespace that does not end with init. */
export interface NetDevicesRecord {
  /** Path of the network namespace. */
  readonly namespace: string;
  readonly devices: readonly MovedDevice[];
}

export interface StateRecord {
  readonly schema: typeof STATE_SCHEMA;
  /** That of the newest build that has written it, or larger. */
  readonly minor: number;
  readonly id: string;
  /** creating: the intent record, written before the first effect. created: init exists and is committed. */
  readonly phase: "creating" | "created";
  readonly ociVersion: string;
  readonly bundle: string;
  readonly rootfs: string;
  /** RFC 3339 with nanoseconds, UTC. */
  readonly created: string;
  /** User id of the user who created it. */
  readonly owner: number;
  /** 0 while creating. */
  readonly pid: number;
  /** Start time of pid in clock ticks since boot, decimal: guards against reuse of the pid. */
  readonly startTime: string;
  readonly cgroup?: CgroupRecord;
  /** When the configuration has intelRdt. */
  readonly resctrl?: ResctrlRecord;
  readonly rootMount?: RootMountRecord;
  /** null: it is on the host, which is written so that `kill` finds it without reading the rest. undefined: the same, by an older build. */
  readonly machine?: MachineRecord | null;
  /** False: config.json has no process, so it cannot be started. */
  readonly startable: boolean;
  /** True: the container has a PID namespace of its own, so the death of init ends everything in it. */
  readonly privatePid: boolean;
  /** Which directory the state root is, "DEVICE:INODE": in a copy of it the container is another one's. undefined: made by an older build. */
  readonly directory?: string;
  readonly exec: ExecRecord;
  /** Standard streams that the container was started with, as criu names them; undefined: a terminal, or a record of an older build. */
  readonly streams?: readonly string[];
  /** undefined: none. */
  readonly hooks?: HooksRecord;
  /** While creating only: those of a container stay where they are. */
  readonly netDevices?: NetDevicesRecord | undefined;
  readonly annotations: Readonly<Record<string, string>>;
  /** "sha256:..." of the plan, when create was told which one to expect. */
  readonly planDigest?: string;
  readonly warnings: readonly string[];
}

/** What `state` and `list` need of a record. */
export type StateSummary = Pick<
  StateRecord,
  "id" | "phase" | "ociVersion" | "bundle" | "rootfs" | "created" | "owner" | "pid" | "startTime" | "annotations" | "cgroup"
>;

export function serializeRecord(record: StateRecord): string {
  return JSON.stringify(record);
}

/** What a record may be before it is known to be one of this build's. */
export type AnyRecord = Readonly<Record<string, unknown>>;

/** A record of this schema; `isCurrent` says whether it has to be migrated. @throws RuntError state-unreadable, state-version */
export function parseRecord(text: string, path: string): AnyRecord {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new RuntError("state-unreadable", `${path}: not JSON`, { cause });
  }
  const record = value as AnyRecord | null;
  if (typeof record !== "object" || record === null || Array.isArray(record)) {
    throw new RuntError("state-unreadable", `${path}: not a state record`);
  }
  const { schema, minor = 0 } = record;
  if (!isVersion(schema) || schema < 1 || !isVersion(minor)) throw new RuntError("state-unreadable", `${path}: not a state record`);
  if (schema > STATE_SCHEMA) {
    throw new RuntError("state-version", `${path}: state version ${schema}.${minor} is newer than ${STATE_SCHEMA}.${STATE_MINOR}`, {
      hint: "the container was made by a newer runt, which has to be used for it",
    });
  }
  return record;
}

function isVersion(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0;
}

/** False: `migrate` has to bring it up to this version. */
export function isCurrent({ schema, minor }: AnyRecord): boolean {
  return schema === STATE_SCHEMA && minor !== undefined && (minor as number) >= STATE_MINOR;
}

/** Unknown fields are kept: this build may write the record of a newer one. @throws RuntError state-unreadable */
export function checkRecord(value: AnyRecord, path: string): StateRecord {
  const record = value as Partial<StateRecord>;
  const sound =
    typeof record.id === "string" &&
    typeof record.pid === "number" &&
    typeof record.startTime === "string" &&
    typeof record.bundle === "string" &&
    record.annotations !== null &&
    (record.cgroup === undefined || Array.isArray(record.cgroup?.paths));
  if (!sound) throw new RuntError("state-unreadable", `${path}: fields are missing`);
  return record as StateRecord;
}

/** STEPS[n] makes 1.(n+1) of 1.n. */
const STEPS: readonly ((record: AnyRecord) => AnyRecord)[] = [keepExec, unchanged, unchanged, keepMachine];

/**
 * Records of older builds, brought up to this one's minor version, one step a version. Nothing is written: the record changes on disk when a verb writes it
 * anyway. `record`: of this schema, with a minor version smaller than this one or, as before there
 * were any, none.
 */
export function migrate(record: AnyRecord, minor: number): AnyRecord {
  const { minor: from = 0 } = record;
  const migrated = STEPS.slice(from as number, minor).reduce((older, step) => step(older), record);
  return { ...migrated, minor };
}

/**
 * The first builds of 1.0 had no exec. What they left out cannot be guessed: config.json may have changed, and a process without the
 * container's limits of rights would be a way out of it.
 */
function keepExec(record: AnyRecord): AnyRecord {
  return record["exec"] === undefined ? { ...record, exec: { unknown: true, namespaces: [], chroot: false, keyring: false } } : record;
}

/** What 1.2 and 1.3 have beside the version before an older container does not have. */
function unchanged(record: AnyRecord): AnyRecord {
  return record;
}

/** Where a container is said an annotation that create had written, and the rest stood in the environment of its process and of its last hook. */
function keepMachine(record: AnyRecord): AnyRecord {
  const { annotations, exec, hooks } = record as Partial<StateRecord>;
  const isolation = annotations?.["io.runt.isolation"];
  // There was one other word for it.
  if (record["machine"] !== undefined || isolation === undefined || isolation === "host") return record;
  const environment = variablesIn((exec?.process?.["env"] as readonly string[] | undefined) ?? []);
  const { memoryMiB } = told<{ memoryMiB?: number }>(environment);
  const leaving = (hooks?.poststop ?? []).find(({ args }) => args[1] === "machine-leave");
  const { joined } = told<{ joined?: NonNullable<MachineRecord["joined"]> }>(variablesIn(leaving?.env ?? []));
  const machine: MachineRecord = {
    socket: environment.get("RUNT_MACHINE_SOCKET") ?? "/run/monitor.sock",
    ...(memoryMiB !== undefined && { memoryMiB }),
    ...(joined && { joined: { pid: joined.pid, startTime: joined.startTime } }),
  };
  return { ...record, machine };
}

function variablesIn(entries: readonly string[]): ReadonlyMap<string, string> {
  return new Map(entries.map((entry) => [entry.slice(0, entry.indexOf("=")), entry.slice(entry.indexOf("=") + 1)]));
}

/** What a process of a machine was told, as JSON in pieces. */
function told<T extends object>(environment: ReadonlyMap<string, string>): Partial<T> {
  let text = "";
  for (let piece = 0; environment.has(`RUNT_MACHINE_${piece}`); piece++) text += environment.get(`RUNT_MACHINE_${piece}`);
  try {
    return text === "" ? {} : (JSON.parse(text) as T);
  } catch (error) {
    // Whoever edits the record must not keep it from being removed.
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}
