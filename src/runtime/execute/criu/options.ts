/** Options, directories and messages that checkpoint and restore share. */
import { answersFeatures, type CgroupModeName, type CriuOptions, endingError, findCriu, type NetworkLock } from "../../criu/index.ts";
import { RuntError } from "../../errors/index.ts";
import * as host from "../../host/index.ts";

export interface CriuFlags {
  /** The program, when it is not `criu` in PATH. */
  readonly criu?: string;
  /** Absolute. */
  readonly imagePath: string;
  /** Absolute: criu's log and scratch files. */
  readonly workPath: string;
  readonly tcpEstablished: boolean;
  readonly tcpClose: boolean;
  readonly externalUnixSockets: boolean;
  readonly shellJob: boolean;
  readonly fileLocks: boolean;
  readonly linkRemap: boolean;
  readonly autoDedup: boolean;
  readonly lazyPages: boolean;
  readonly cgroupMode: CgroupModeName;
  readonly networkLock?: NetworkLock;
}

/** The network is its owner's: devices and addresses are made by engines, before or by hooks (as runc has it). */
const EMPTY_NAMESPACES = 0x4000_0000;
const LIST: Readonly<Record<string, string>> = { network: "extRootNetNS", pid: "extRootPidNS" };

/** Names of joined namespaces as an image has them, by type; criu finds those of other types by itself or not at all. */
export const EXTERNAL_NAMESPACES = LIST;
/** Joined namespaces whose members can be restored into the same one. */
export const REJOINED_NAMESPACES: ReadonlySet<string> = new Set(["ipc", "uts"]);

/** Types of linux.namespaces that are joined by path. @throws RuntError "not-supported" */
export function refuseJoined(types: readonly string[]): void {
  const type = types.find((name) => EXTERNAL_NAMESPACES[name] === undefined && !REJOINED_NAMESPACES.has(name));
  if (type === undefined) return;
  throw new RuntError("not-supported", `criu cannot keep a container in the ${type} namespace of others`, { pointer: "/linux/namespaces" });
}

/** criu leaves the mapping out without an error, and files would change their owners. @throws RuntError "not-supported" */
export function refuseIdMapped(mountpoints: readonly string[]): void {
  const [first] = mountpoints;
  if (first !== undefined) throw new RuntError("not-supported", `criu cannot keep the id-mapped mount ${first}`, { pointer: "/mounts" });
}

export function commonOptions(
  { flags, directories, root }: { flags: CriuFlags; directories: CriuDirectories; root: string },
  annotations: Readonly<Record<string, string>>,
): CriuOptions {
  const file = configFile(annotations);
  const networkLock = flags.networkLock;
  return {
    imagesDirectory: directories.images,
    workDirectory: directories.work,
    logFile: directories.log,
    root,
    tcpEstablished: flags.tcpEstablished,
    tcpClose: flags.tcpClose,
    externalUnixSockets: flags.externalUnixSockets,
    shellJob: flags.shellJob,
    fileLocks: flags.fileLocks,
    linkRemap: flags.linkRemap,
    autoDedup: flags.autoDedup,
    lazyPages: flags.lazyPages,
    cgroupMode: flags.cgroupMode,
    externalMounts: [],
    emptyNamespaces: EMPTY_NAMESPACES,
    ...(file !== undefined && { configFile: file }),
    ...(networkLock !== undefined && { networkLock }),
  };
}

/** The annotation of runc and crun; an empty one means none. */
function configFile(annotations: Readonly<Record<string, string>>): string | undefined {
  const asked = annotations["org.criu.config"];
  if (asked !== undefined) return asked === "" ? undefined : asked;
  return ["/etc/criu/runt.conf", "/etc/criu/runc.conf"].find((path) => host.stat(path) !== undefined);
}

export interface CriuDirectories {
  /** Descriptors, for criu. */
  readonly images: number;
  readonly work: number;
  /** Name of the log in the work directory. */
  readonly log: string;
}

/** `log`, `statistics`: what criu is about to write into the work directory. */
export function openDirectories({ imagePath, workPath }: CriuFlags, { log, statistics }: CriuOutput): CriuDirectories {
  makeDirectory(workPath);
  const directories = { images: openDirectory(imagePath), work: openDirectory(workPath), log };
  for (const name of [log, statistics]) removeFormer(directories.work, name, workPath);
  return directories;
}

export interface CriuOutput {
  readonly log: string;
  readonly statistics: string;
}

/**
 * criu empties a file of that name, also one that a link leads to: an image from elsewhere may bring links. And the log of a former failure
 * is none of this one.
 */
function removeFormer(directory: number, name: string, path: string): void {
  try {
    host.unlink(`/proc/self/fd/${directory}/${name}`);
  } catch (error) {
    if (!host.isErrno(error, "ENOENT")) throw new RuntError("criu", `${path}/${name}: ${host.reason(error)}`, { cause: error });
  }
}

function openDirectory(path: string): number {
  try {
    return host.open(path, host.O.RDONLY | host.O.DIRECTORY);
  } catch (error) {
    throw new RuntError("criu", `open ${path}: ${host.reason(error)}`, { cause: error });
  }
}

/** Makes a directory and the missing ones above it. Only the owner may read images: they hold the memory of processes. */
export function makeDirectory(path: string): void {
  if (host.stat(path)) return;
  const parent = path.slice(0, path.lastIndexOf("/"));
  if (parent !== "") makeDirectory(parent);
  try {
    host.mkdir(path, 0o700);
  } catch (error) {
    if (!host.isErrno(error, "EEXIST")) throw new RuntError("criu", `mkdir ${path}: ${host.reason(error)}`, { cause: error });
  }
}

export function closeDirectories({ images, work }: CriuDirectories): void {
  host.close(images);
  host.close(work);
}

/** What criu's log says, and where the rest of it is: engines show the first line and keep the file. */
export function criuFailure(
  what: string,
  { workPath }: CriuFlags,
  log: string,
  { errno, message }: { errno?: number; message?: string },
): RuntError {
  const path = `${workPath}/${log}`;
  // The message is the first error of the log, which need not be the one that counts.
  const told = loggedError(path) ?? (message && (endingError(message) ?? message.split("\n", 1)[0]));
  return new RuntError("criu", `criu failed: type ${what} errno ${errno ?? 0}${told ? `: ${told}` : ""}: log file: ${path}`);
}

const LOG_LIMIT = 64 << 20;

function loggedError(path: string): string | undefined {
  try {
    return endingError(host.readFile(path, LOG_LIMIT));
  } catch (error) {
    if (host.isErrno(error, "ENOENT", "EFBIG", "EILSEQ")) return undefined;
    throw error;
  }
}

/** Whether checkpoint and restore have the program that they need, and whether it works here. */
export function hasCriu(): boolean {
  return findCriu() !== undefined;
}

/** An old criu may not start on a new kernel, and for others than root it does nothing. */
export function criuWorks(): boolean {
  const criu = host.geteuid() === 0 ? findCriu() : undefined;
  if (criu === undefined) return false;
  try {
    return answersFeatures(criu);
  } catch (error) {
    if (error instanceof RuntError) return false;
    throw error;
  }
}
