/** criu writes the processes of a container into files. */
import { type MountLine, parseMountinfo } from "../../../shared/linux/index.ts";
import { freezeFile } from "../../cgroup/index.ts";
import {
  converse,
  encodeRequest,
  externalFiles,
  externalMounts,
  findProgram,
  foreignHierarchies,
  idMappedMounts,
  isFileKey,
  type MountFacts,
  OPEN_FILES,
  openFileModes,
  REQUEST,
  replaceableFiles,
  requireReadableNames,
  requireReadableTable,
} from "../../criu/index.ts";
import { RuntError } from "../../errors/index.ts";
import * as host from "../../host/index.ts";
import type { StateRecord } from "../../state/index.ts";
import { replaceFile } from "../fresh-file.ts";
import { streamsOf } from "../streams.ts";
import { membershipsOf } from "./cgroups.ts";
import { DESCRIPTORS, NETWORK, namespaceIdentity } from "./image.ts";
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
} from "./options.ts";

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
const NAMESPACE_FILES: Readonly<Record<string, string>> = { network: "net", pid: "pid" };

/** Mount points, as the configuration has them. */
export type AskedPaths = Pick<MountFacts, "bound" | "masked">;

/** @throws RuntError; then the container goes on as before */
export function dump(criu: string, record: StateRecord, flags: CheckpointFlags, asked: AskedPaths): void {
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
      ...asked,
      cgroupNamespace: exec.namespaces.includes("cgroup"),
    }),
  );
  makeDirectory(flags.imagePath);
  // What it was started with: a shell may have put something else there for a moment.
  const streams = record.streams ?? streamsOf(String(pid), (mountId) => mounts.some((mount) => mount.id === String(mountId)));
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
  replaceFile(`${flags.imagePath}/${DESCRIPTORS}`, JSON.stringify(streams));
  if (joined.includes("network")) replaceFile(`${flags.imagePath}/${NETWORK}`, namespaceIdentity(`/proc/${pid}/ns/net`));
  const answer = converse(criu, {
    request: () => encodeRequest(preDump ? REQUEST.preDump : REQUEST.dump, options),
    notified: (script) => {
      if (script === "status-ready" && flags.statusFd !== undefined) host.write(flags.statusFd, "\0");
      // The files are all there, and the processes still are: what throws here lets them go on.
      if (script === "post-dump") makeReplaceable(flags.imagePath, streams);
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

function mountsOf(process: string): MountLine[] {
  return parseMountinfo(host.readFile(`/proc/${process}/mountinfo`, undefined, true));
}

function externalNamespace(pid: number, type: string): string[] {
  const [file, key] = [NAMESPACE_FILES[type], EXTERNAL_NAMESPACES[type]];
  if (file === undefined || key === undefined) return [];
  return [`${file}[${host.stat(`/proc/${pid}/ns/${file}`)?.ino}]:${key}`];
}

const LIMIT = 64 << 20;
/** criu insists on one of the same kind, and finds nothing that it can open again in the place of a FIFO. */
const UNRESTORABLE: Readonly<Record<number, string>> = {
  [host.S.IFDIR]: "a directory",
  [host.S.IFIFO]: "a FIFO",
  [host.S.IFBLK]: "a block device",
};

/**
 * The last step of a dump: standard streams that are files of the host must be restorable with another
 * file in their place. `streams`: by their names. @throws RuntError not-supported when no restore
 * could give one of them, criu for an image that cannot be read
 */
function makeReplaceable(imagePath: string, streams: readonly string[]): void {
  const names = new Set(streams.filter(isFileKey));
  const path = `${imagePath}/${OPEN_FILES}`;
  if (names.size === 0 || !host.stat(path)) return;
  try {
    const image = new Uint8Array(host.readBytes(path, LIMIT));
    for (const [name, mode] of openFileModes(image)) {
      const kind = names.has(name) ? UNRESTORABLE[mode & host.S.IFMT] : undefined;
      if (kind !== undefined)
        throw new RuntError("not-supported", `no restore could give the container a standard stream that is ${kind} of the host`);
    }
    replaceFile(path, replaceableFiles(image, names).slice().buffer as ArrayBuffer);
  } catch (error) {
    if (error instanceof RuntError) throw error;
    throw new RuntError("criu", `${path}: ${error instanceof RangeError ? error.message : host.reason(error)}`, { cause: error });
  }
}
