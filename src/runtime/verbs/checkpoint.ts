/** checkpoint: a container's processes as files, by criu (docs/decisions/0021-checkpoint.md). */
import { freezeFile } from "../cgroup/index.ts";
import {
  converse,
  encodeRequest,
  externalFiles,
  externalMounts,
  findProgram,
  foreignHierarchies,
  idMappedMounts,
  type Mount,
  type MountFacts,
  parseMounts,
  REQUEST,
  requireCriu,
  requireFeatures,
  requireReadableNames,
  requireReadableTable,
} from "../criu/index.ts";
import { RuntError } from "../errors/index.ts";
import { destroy, killInit } from "../execute/destroy.ts";
import { runPoststop } from "../execute/hooks.ts";
import { streamsOf } from "../execute/streams.ts";
import * as host from "../host/index.ts";
import { loadBundle } from "../prepare/bundle.ts";
import { LIVE } from "../prepare/knowledge.ts";
import type { RuntimeOptions } from "../prepare/options.ts";
import { cleanPath } from "../spec/path.ts";
import { configPath, containerDirectory, lock, readRecord, type StateRecord } from "../state/index.ts";
import { deriveStatus } from "../state/status.ts";
import { membershipsOf } from "./criu/cgroups.ts";
import {
  type CriuFlags,
  closeDirectories,
  commonOptions,
  criuFailure,
  EXTERNAL_NAMESPACES,
  makeDirectory,
  openDirectories,
  refuseIdMapped,
  refuseJoined,
} from "./criu/options.ts";

export interface CheckpointFlags extends CriuFlags {
  readonly leaveRunning: boolean;
  /** Only the memory, and the container goes on: a later checkpoint takes what has changed since. */
  readonly preDump: boolean;
  readonly tcpSkipInFlight: boolean;
  /** Relative to the image directory. */
  readonly parentPath?: string;
  readonly pageServer?: { readonly address: string; readonly port: number };
  /** A descriptor of this process that gets one byte when a lazy dump is ready to serve pages. */
  readonly statusFd?: number;
}

const OUTPUT = { log: "dump.log", statistics: "stats-dump" };
/** What restore reads beside criu's own files; runc's name and form. */
export const DESCRIPTORS = "descriptors.json";
const IMAGE_FILE = host.O.WRONLY | host.O.CREAT | host.O.TRUNC | host.O.NOFOLLOW;
/** DEVICE:INODE of the network namespace that the container had joined. */
export const NETWORK = "network";
const NAMESPACE_FILES: Readonly<Record<string, string>> = { network: "net", pid: "pid" };

/** @throws RuntError; then the container goes on as before */
export function checkpoint({ root }: RuntimeOptions, id: string, flags: CheckpointFlags): void {
  readRecord(root, id);
  lock(containerDirectory(root, id));
  const record = readRecord(root, id, true);
  const status = deriveStatus(root, record, true);
  if (status !== "running" && status !== "paused") {
    throw new RuntError("wrong-status", `Container cannot be checkpointed in ${status} state`);
  }
  if (host.geteuid() !== 0) throw new RuntError("criu", "checkpoint needs root: criu cannot dump for other users");
  checkParent(flags);
  const criu = requireCriu(flags.criu);
  requireFeatures(criu, { trackMemory: flags.preDump, lazyPages: flags.lazyPages });
  dump(root, criu, record, flags);
  if (flags.leaveRunning || flags.preDump) return;
  killInit(record);
  destroy(root, record);
  runPoststop(record);
}

function checkParent({ imagePath, parentPath }: CheckpointFlags): void {
  if (parentPath === undefined) return;
  if (parentPath.startsWith("/")) throw new RuntError("usage", "--parent-path must be relative to --image-path");
  if (!host.stat(cleanPath(`${imagePath}/${parentPath}`)))
    throw new RuntError("criu", `--parent-path ${parentPath}: not found from ${imagePath}`);
}

function dump(state: string, criu: string, record: StateRecord, flags: CheckpointFlags): void {
  const { pid, exec, annotations, rootfs } = record;
  const mounts = mountsOf(String(pid));
  const joined = exec.joined ?? [];
  refuseJoined(joined);
  refuseIdMapped(idMappedMounts(mounts));
  requireReadableTable(mounts);
  const external = requireReadableNames(
    externalMounts({
      container: mounts,
      hostDevices: new Set(mountsOf("self").map(({ device }) => device)),
      ...askedPaths(state, record),
      cgroupNamespace: exec.namespaces.includes("cgroup"),
    }),
  );
  makeDirectory(flags.imagePath);
  // What it was started with: a shell may have put something else there for a moment.
  const streams = record.streams ?? streamsOf(String(pid), (mountId) => mounts.some((mount) => mount.id === mountId));
  const directories = openDirectories(flags, OUTPUT);
  const freezer = record.cgroup && freezeFile(record.cgroup);
  const { preDump, parentPath, pageServer } = flags;
  const options = {
    ...commonOptions({ flags, directories, root: rootfs }, annotations),
    pid,
    leaveRunning: flags.leaveRunning,
    tcpSkipInFlight: flags.tcpSkipInFlight,
    trackMemory: preDump,
    externalMounts: external,
    ...(flags.cgroupMode !== "ignore" && { cgroupRoots: foreignHierarchies(membershipsOf(pid), record.cgroup?.paths ?? []) }),
    external: [...externalFiles(streams), ...joined.flatMap((type) => externalNamespace(pid, type))],
    ...(parentPath !== undefined && { parentImage: parentPath }),
    ...(pageServer !== undefined && { pageServer }),
    ...(freezer !== undefined && { freezeCgroup: freezer.slice(0, freezer.lastIndexOf("/")) }),
    ...lockMethod(flags),
  };
  // Before: at the end of the dump there is no process left to look at.
  host.writeFile(
    `${flags.imagePath}/${DESCRIPTORS}`,
    JSON.stringify(streams),
    host.O.WRONLY | host.O.CREAT | host.O.TRUNC | host.O.NOFOLLOW,
    0o600,
  );
  if (joined.includes("network")) {
    host.writeFile(`${flags.imagePath}/${NETWORK}`, namespaceIdentity(`/proc/${pid}/ns/net`), IMAGE_FILE, 0o600);
  }
  const answer = converse(criu, {
    request: () => encodeRequest(preDump ? REQUEST.preDump : REQUEST.dump, options),
    notified: (script) => {
      if (script === "status-ready" && flags.statusFd !== undefined) host.write(flags.statusFd, "\0");
    },
  });
  closeDirectories(directories);
  if (!answer.success) throw criuFailure(preDump ? "PRE_DUMP" : "DUMP", flags, OUTPUT.log, answer);
}

/**
 * criu's first choice is iptables; where it is not installed nftables does as well. A network namespace of the container's own is locked
 * whether there are connections or not.
 */
function lockMethod({ networkLock }: CheckpointFlags): { readonly networkLock?: "nftables" } {
  return networkLock === undefined && findProgram("iptables-restore") === undefined ? { networkLock: "nftables" } : {};
}

function mountsOf(process: string): Mount[] {
  return parseMounts(host.readFile(`/proc/${process}/mountinfo`, undefined, true));
}

/** By the configuration that create has kept. Of an older record there is none: what comes from the host's filesystems is found without it. */
function askedPaths(root: string, { id, bundle }: StateRecord): Pick<MountFacts, "bound" | "masked"> {
  const kept = configPath(root, id);
  try {
    const { config } = host.stat(kept) ? loadBundle(bundle, LIVE, kept) : loadBundle(bundle, LIVE);
    return {
      bound: new Set(config.mounts.flatMap((mount) => (mount.kind === "bind" ? [cleanPath(mount.target)] : []))),
      masked: new Set(config.maskedPaths.map(cleanPath)),
    };
  } catch (error) {
    if (error instanceof RuntError) return { bound: new Set(), masked: new Set() };
    throw error;
  }
}

function externalNamespace(pid: number, type: string): string[] {
  const [file, key] = [NAMESPACE_FILES[type], EXTERNAL_NAMESPACES[type]];
  if (file === undefined || key === undefined) return [];
  return [`${file}[${host.stat(`/proc/${pid}/ns/${file}`)?.ino}]:${key}`];
}

/** Of the namespace behind a path. */
export function namespaceIdentity(path: string): string {
  const found = host.stat(path);
  return found ? `${found.dev}:${found.ino}` : "";
}
