/** The template for code that nobody has read. */
import { isAbsolute } from "node:path";
import { ExecutorError } from "../errors.ts";
import type { OciObject } from "../launch/command.ts";
import { defaultSeccomp } from "../launch/seccomp.ts";
import { DEFAULT_MOUNTS, DEFAULT_NAMESPACES, DEFAULT_PATH, MASKED_PATHS, maskedProcessors, READONLY_PATHS } from "../profile.ts";
import { checkShape, KIND } from "../shape.ts";
import type { PoolTemplate } from "./options.ts";
import { outboundOf, type SandboxNetwork } from "./outbound/network.ts";

export interface SandboxOptions {
  /** Absolute directory that becomes the root file system, read-only. */
  readonly rootfs: string;
  /** Program and arguments of a box that is given none; default: `true`. */
  readonly command?: readonly string[];
  /** Beside PATH and HOME, whose values they replace. */
  readonly env?: Readonly<Record<string, string>>;
  /** Absolute; default: /tmp. */
  readonly cwd?: string;
  /**
   * "none", the default: a loopback of its own. "outbound": its program can also begin connections to public IPv4 addresses, over TCP and UDP, and ask the host's resolver for names; no
   * address of the host, no private one and no metadata service of a cloud is reached, and nobody reaches the box. `private` names private ranges that are reached, too, such as
   * "10.1.0.0/16". It needs root, and the programs pasta, nft and nsenter.
   */
  readonly network?: SandboxNetwork;
  /**
   * As of a launch; default: "/runt-executor". Callers other than root have to name a cgroup that is delegated to them, or null: then a box has no limits of memory, cpus and
   * pids, and asking for one is an error.
   */
  readonly cgroupParent?: string | null;
  /** Bytes of memory, with tmpfs and without swap; default 128 MiB. */
  readonly memory?: number;
  /** Default 1. */
  readonly cpus?: number;
  /** Processes and threads; default 64. */
  readonly pids?: number;
  /** Bytes of /tmp, which is memory; default 64 MiB. */
  readonly disk?: number;
  /** Until everything of it is killed; default 10. */
  readonly seconds?: number;
  /** Bytes of stdout and of stderr; default 1 MiB. */
  readonly outputBytes?: number;
  /**
   * First id of the host that the ids 0 to 65535 of the container are. Default for root: 1879048192, which systemd's table of ids names as unused. For others: the ids have to be
   * their subordinate ones (subuid(5), subgid(5)); without it, the container has one id, 0, which is the caller on the host.
   */
  readonly firstId?: number;
}

const OPTIONS = {
  rootfs: KIND.text,
  command: KIND.texts,
  env: KIND.textsByName,
  cwd: KIND.text,
  network: { what: "a string or an object", is: (value: unknown) => KIND.text.is(value) || KIND.object.is(value) },
  cgroupParent: { what: "a string or null", is: (value: unknown) => value === null || typeof value === "string" },
  memory: KIND.number,
  cpus: KIND.number,
  pids: KIND.number,
  disk: KIND.number,
  seconds: KIND.number,
  outputBytes: KIND.number,
  firstId: KIND.number,
} as const satisfies Readonly<Record<keyof SandboxOptions, unknown>>;

const MIB = 2 ** 20;
const IDS = 65_536;
const NOBODY = 65_534;
const FIRST_ID = 1_879_048_192;

/**
 * A user namespace of its own, a user without capabilities and without a way to any, a read-only root, /tmp of bounded size, an engine's filter of system calls, masks of today's Docker
 * and Kubernetes, no network or a way out, limits, and a deadline. @throws ExecutorError invalid-argument
 */
export function sandbox(options: SandboxOptions): PoolTemplate {
  checkShape("sandbox", options, OPTIONS, ["rootfs"]);
  const { rootfs, network = "none", cgroupParent, disk = 64 * MIB, seconds = 10 } = options;
  const { memory, cpus, pids } = limitsOf(options);
  const { outputBytes = MIB, firstId, command = ["true"], env = {}, cwd = "/tmp" } = options;
  if (!isAbsolute(rootfs)) refuse("rootfs", `${rootfs} is not absolute`);
  if (command.length === 0) refuse("command", "is empty");
  if (!isAbsolute(cwd)) refuse("cwd", `${cwd} is not absolute`);
  const outbound = outboundOf(network);
  for (const [name, value] of Object.entries({ memory, pids, disk, seconds, outputBytes }))
    if (value !== undefined && (!Number.isSafeInteger(value) || value < 1)) refuse(name, `${value}: use a whole number above 0`);
  if (firstId !== undefined && (!Number.isInteger(firstId) || firstId < IDS || firstId + IDS > 0xffff_ffff))
    refuse("firstId", `${firstId}: not a range of ids`);
  const { uid, uidMappings, gidMappings } = idsOf(firstId);
  const config: OciObject = {
    ociVersion: "1.2.0",
    process: {
      args: command,
      env: Object.entries({ PATH: DEFAULT_PATH, HOME: "/tmp", ...env }).map(([name, value]) => `${name}=${value}`),
      cwd,
      user: { uid, gid: uid },
      capabilities: { bounding: [], effective: [], permitted: [], inheritable: [], ambient: [] },
      noNewPrivileges: true,
      rlimits: [
        { type: "RLIMIT_CORE", soft: 0, hard: 0 },
        { type: "RLIMIT_NOFILE", soft: 1024, hard: 1024 },
      ],
      oomScoreAdj: 500,
    },
    root: { path: rootfs, readonly: true },
    hostname: "sandbox",
    mounts: [
      ...DEFAULT_MOUNTS.map((mount) => (uid === 0 ? withoutGroup(mount) : mount)),
      { destination: "/tmp", type: "tmpfs", source: "tmpfs", options: ["nosuid", "nodev", "mode=1777", `size=${disk}`] },
    ],
    linux: {
      namespaces: [...DEFAULT_NAMESPACES.map((type) => ({ type })), { type: "user" }],
      uidMappings,
      gidMappings,
      maskedPaths: [...MASKED_PATHS, ...maskedProcessors()],
      readonlyPaths: READONLY_PATHS,
      seccomp: defaultSeccomp([], process.arch),
      resources: { devices: [{ allow: false, access: "rwm" }] },
    },
  };
  return {
    launch: {
      ...{ config, bundle: rootfs },
      ...(memory === undefined ? {} : { resources: { memoryBytes: memory, cpus, pids } }),
      ...(cgroupParent === undefined ? {} : { cgroupParent }),
    },
    deadlineMs: seconds * 1000,
    outputBytes,
    ...(outbound === undefined ? {} : { outbound }),
  };
}

/** undefined: the boxes have no cgroup. @throws ExecutorError invalid-argument */
function limitsOf({ cgroupParent, memory, cpus, pids }: SandboxOptions) {
  if (cgroupParent === undefined && !isRoot())
    refuse(
      "cgroupParent",
      "limits of memory, cpus and pids need a cgroup that is delegated to this user: name it, or use null and no such limits",
    );
  if (cgroupParent !== null) return { memory: memory ?? 128 * MIB, cpus: cpus ?? 1, pids: pids ?? 64 };
  for (const [name, value] of Object.entries({ memory, cpus, pids }))
    if (value !== undefined) refuse(name, "needs a cgroup, and cgroupParent is null");
  return { memory: undefined, cpus: undefined, pids: undefined };
}

interface Ids {
  /** And gid, of the program in the container. */
  readonly uid: number;
  readonly uidMappings: readonly OciObject[];
  readonly gidMappings: readonly OciObject[];
}

/** Anyone else than root has one id to give, and the subordinate ones. */
function idsOf(firstId: number | undefined): Ids {
  const mapped = (hostID: number, size: number) => [{ containerID: 0, hostID, size }];
  if (firstId === undefined && !isRoot())
    return { uid: 0, uidMappings: mapped(process.geteuid!(), 1), gidMappings: mapped(process.getegid!(), 1) };
  const all = mapped(firstId ?? FIRST_ID, IDS);
  return { uid: NOBODY, uidMappings: all, gidMappings: all };
}

function isRoot(): boolean {
  return process.geteuid?.() === 0;
}

/** The group of terminals is not mapped then. */
function withoutGroup<T extends { readonly options: readonly string[] }>(mount: T): T {
  return { ...mount, options: mount.options.filter((option) => option !== "gid=5") };
}

function refuse(field: string, reason: string): never {
  throw new ExecutorError("invalid-argument", `${field}: ${reason}`, { field });
}
