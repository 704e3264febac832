/**
 * Volumes that are file systems of their own, such as an export of NFS, mounted while their task exists. The server may not answer: the daemon never opens
 * what is mounted, each program has a time, and whether something is mounted is read from the list of the kernel.
 */
import { lookup } from "node:dns/promises";
import { lstatSync, mkdirSync, rmdirSync } from "node:fs";
import { isIP } from "node:net";
import { release } from "node:os";
import { listedAt, outputOf } from "../../node/index.ts";
import type { MountLine } from "../../shared/linux/index.ts";
import { isLoopOf } from "./image.ts";

export interface Filesystem {
  readonly type: string;
  /** Such as a block device, the path of an export or a share. */
  readonly device: string;
  /** As in fstab(5), separated by commas. */
  readonly options?: string | undefined;
}
type Mounted = Readonly<Record<"type" | "device" | "options", string>>;

export interface Identity {
  /** These two as stat(2) has them. */
  readonly device: bigint;
  readonly inode: bigint;
}

export interface MountingOptions {
  /** Calls `action` with the descriptor of a file with this text, which others cannot read: the options may have a password. */
  readonly asFile: (text: Uint8Array, action: (descriptor: number) => Promise<unknown>) => Promise<unknown>;
  /** Milliseconds. Default: one minute. */
  readonly timeoutMs?: number;
}

const MOUNT_MS = 60_000;
/** Milliseconds for an unmount that writes what is open. After that the mount is detached, and the kernel ends it when the server answers. */
const UNMOUNT_MS = 10_000;
const STAT_MS = 30_000;
/** Milliseconds for the address of a server. */
const LOOKUP_MS = 15_000;

/**
 * Makes the directory and mounts the file system there, without the helpers of mount(8), as Docker does. May be repeated.
 * @throws Error: why it cannot be mounted; something else is mounted there
 */
export async function mountFilesystem(path: string, given: Filesystem, { asFile, timeoutMs = MOUNT_MS }: MountingOptions): Promise<void> {
  const filesystem = await resolved(given);
  const there = listedAt(path);
  if (there !== undefined && isOf(there, filesystem)) return;
  if (there !== undefined) throw notOurs(there, path);
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const args = ["--internal-only", "--no-canonicalize", "--fstab", "/proc/self/fd/3", path];
  try {
    await asFile(Buffer.from(tableLine(path, filesystem)), (descriptor) =>
      outputOf("mount", args, { timeoutMs, descriptors: [descriptor], env: { ...process.env, LC_ALL: "C" } }),
    );
  } catch (error) {
    throw new Error(whyNot(filesystem, (error as Error).message), { cause: error });
  }
}

/** Unmounts it, and removes the directory. May be repeated. @throws Error: something else is mounted there, or has the place of the directory */
export async function unmountFilesystem(path: string, filesystem: Filesystem): Promise<void> {
  for (let there = listedAt(path); there !== undefined; there = listedAt(path)) {
    if (!isOf(there, filesystem)) throw notOurs(there, path);
    const args = ["--internal-only", "--no-canonicalize", path];
    await outputOf("umount", args, { timeoutMs: UNMOUNT_MS }).catch(() =>
      outputOf("umount", ["--lazy", ...args], { timeoutMs: UNMOUNT_MS }),
    );
  }
  if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) rmdirSync(path);
}

/** What is mounted at the path. @throws Error: nothing is mounted there, or its server does not answer in time */
export async function identityOf(path: string, signal: AbortSignal): Promise<Identity> {
  if (listedAt(path) === undefined) throw new Error(`nothing is mounted at ${path}`);
  const [device, inode] = (await outputOf("stat", ["--format", "%d %i", path], { timeoutMs: STAT_MS, signal })).trim().split(" ");
  return { device: BigInt(device!), inode: BigInt(inode!) };
}

/** One line of fstab(5). */
export function tableLine(path: string, { type, device, options }: Mounted): string {
  const escaped = (text: string) => text.replaceAll(/[\s#\\]/g, (one) => `\\${one.charCodeAt(0).toString(8).padStart(3, "0")}`);
  return `${escaped(device)} ${escaped(path)} ${type} ${escaped(options === "" ? "defaults" : options)} 0 0\n`;
}

/** The device of CIFS has the address of the server in the place of its name. A file is mounted by a loop device. */
function isOf({ source, type }: MountLine, filesystem: Filesystem): boolean {
  return source === filesystem.device || (type === "cifs" && filesystem.type === "cifs") || isLoopOf(source, filesystem.device);
}

function notOurs({ source }: MountLine, path: string): Error {
  return new Error(`a file system of ${source} is mounted at ${path}, and not this volume`);
}

/**
 * Puts the address of the server in the place of its name, as the kernel takes no names: in the option `addr` of NFS, or for CIFS in the device. Without `addr` the
 * server of NFS is that of the device. Source: moby, volume/local/local_unix.go, getMountOptions. @throws Error: the name has no address
 */
export async function resolved({ type, device, options = "" }: Filesystem): Promise<Mounted> {
  const plain = { type, device, options };
  if (!["nfs", "nfs4", "cifs"].includes(type)) return plain;
  const words = options.split(",").filter(Boolean);
  const said = words.find((one) => one.startsWith("addr="))?.slice("addr=".length);
  if (said !== undefined) {
    const address = await addressOf(said);
    return { ...plain, options: words.map((one) => (one.startsWith("addr=") ? `addr=${address}` : one)).join(",") };
  }
  if (type === "cifs") {
    const [, server, share] = /^\/\/([^/]+)(\/.*)?$/s.exec(device) ?? [];
    return server === undefined ? plain : { ...plain, device: `//${await addressOf(server)}${share ?? ""}` };
  }
  const [, server] = /^\[?([^/]+?)\]?:\//.exec(device) ?? [];
  if (server === undefined) throw new Error(`${type}: no server is named: write addr=SERVER in its options`);
  return { ...plain, options: [...words, `addr=${await addressOf(server)}`].join(",") };
}

async function addressOf(name: string): Promise<string> {
  if (isIP(name) !== 0) return name;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`has no answer within ${LOOKUP_MS / 1000} s`)), LOOKUP_MS);
  });
  try {
    return (await Promise.race([lookup(name, { order: "ipv4first" }), late])).address;
  } catch (error) {
    throw new Error(`the server ${name} has no address: ${(error as Error).message}`, { cause: error });
  } finally {
    clearTimeout(timer);
  }
}

/** Packages of Debian with the programs that other ways of mounting need, and that some options need, too. */
const HELPERS: Readonly<Record<string, string>> = { nfs: "nfs-common", nfs4: "nfs-common", cifs: "cifs-utils" };

/** Without the password. */
function whyNot({ type, device, options }: Mounted, message: string): string {
  const [, password] = /(?:^|,)pass(?:word)?=([^,]+)/.exec(options) ?? [];
  const text = `${device} (${type}): ${password === undefined ? message : message.replaceAll(password, "[hidden]")}`;
  if (/unknown filesystem type/.test(message)) {
    const kernel = release();
    return `${device}: the kernel has no file system ${type}: its module is in the package linux-image-${kernel}, of Ubuntu in linux-modules-extra-${kernel}`;
  }
  const helper = HELPERS[type];
  return helper === undefined || !/bad option|rpc\.statd|wrong fs type/.test(message)
    ? text
    : `${text} (the locks of NFS and the options of mount.${type} need the package ${helper})`;
}
