/** The template for code that nobody has read. */
import { isAbsolute } from "node:path";
import { ExecutorError } from "../errors.ts";
import type { OciObject } from "../launch/command.ts";
import { defaultSeccomp } from "../launch/seccomp.ts";
import { DEFAULT_MOUNTS, DEFAULT_NAMESPACES, DEFAULT_PATH, MASKED_PATHS, maskedProcessors, READONLY_PATHS } from "../profile.ts";
import { checkShape, KIND } from "../shape.ts";
import type { PoolTemplate } from "./options.ts";

export interface SandboxOptions {
  /** Absolute directory that becomes the root file system, read-only. */
  readonly rootfs: string;
  /** None but a loopback of its own; there is no other kind yet. */
  readonly network?: "none";
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
  /** First id of the host that the ids 0 to 65535 of the container are; as root only. Default 1879048192, which systemd's table of ids names as unused. */
  readonly firstId?: number;
}

const OPTIONS = {
  rootfs: KIND.text,
  network: KIND.text,
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
 * and Kubernetes, no network, limits, and a deadline. @throws ExecutorError invalid-argument
 */
export function sandbox(options: SandboxOptions): PoolTemplate {
  checkShape("sandbox", options, OPTIONS, ["rootfs"]);
  const { rootfs, network = "none", memory = 128 * MIB, cpus = 1, pids = 64, disk = 64 * MIB, seconds = 10 } = options;
  const { outputBytes = MIB, firstId = FIRST_ID } = options;
  if (!isAbsolute(rootfs)) refuse("rootfs", `${rootfs} is not absolute`);
  if (network !== "none") refuse("network", `${JSON.stringify(network)}: only "none" is there`);
  for (const [name, value] of Object.entries({ memory, pids, disk, seconds, outputBytes }))
    if (!Number.isSafeInteger(value) || value < 1) refuse(name, `${value}: use a whole number above 0`);
  if (!Number.isInteger(firstId) || firstId < IDS || firstId + IDS > 0xffff_ffff) refuse("firstId", `${firstId}: not a range of ids`);
  const { uid, ids } = idsOf(firstId);
  const config: OciObject = {
    ociVersion: "1.2.0",
    process: {
      args: ["true"],
      env: [`PATH=${DEFAULT_PATH}`, "HOME=/tmp"],
      cwd: "/tmp",
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
      uidMappings: ids,
      gidMappings: ids,
      maskedPaths: [...MASKED_PATHS, ...maskedProcessors()],
      readonlyPaths: READONLY_PATHS,
      seccomp: defaultSeccomp([], process.arch),
      resources: { devices: [{ allow: false, access: "rwm" }] },
    },
  };
  return {
    launch: { config, bundle: rootfs, resources: { memoryBytes: memory, cpus, pids } },
    deadlineMs: seconds * 1000,
    outputBytes,
  };
}

/** Anyone else than root has one id to give. */
function idsOf(firstId: number): { readonly uid: number; readonly ids: readonly OciObject[] } {
  const caller = process.geteuid?.() ?? 0;
  if (caller === 0) return { uid: NOBODY, ids: [{ containerID: 0, hostID: firstId, size: IDS }] };
  return { uid: 0, ids: [{ containerID: 0, hostID: caller, size: 1 }] };
}

/** The group of terminals is not mapped then. */
function withoutGroup<T extends { readonly options: readonly string[] }>(mount: T): T {
  return { ...mount, options: mount.options.filter((option) => option !== "gid=5") };
}

function refuse(field: string, reason: string): never {
  throw new ExecutorError("invalid-argument", `${field}: ${reason}`, { field });
}
