/** What `create` tells the processes of a machine. It is in their environment, which only their own user and root can read. */

import type { Opening } from "./channel/index.ts";

/** A mount point of the container, and where bound to it is what: the path on the host. */
export interface MountPoint {
  readonly path: string;
  readonly source?: string;
}

/** A block device of the host that is a disk of the machine. */
export interface Disk {
  readonly major: number;
  readonly minor: number;
  readonly readonly: boolean;
}

/** For the monitor. */
export interface MonitorRequest {
  readonly terminal: boolean;
  readonly memoryMiB: number;
  /** undefined: an older build has made it. */
  readonly cpus?: number;
}

/** For a process that stands on the host for one in the guest: the monitor has its stream under this name. */
export interface AdoptionRequest {
  readonly what: "adoption";
  /** The id of a container that has joined, or what `exec` has made up. */
  readonly name: string;
  readonly terminal: boolean;
}

/** For the first process of a container that has joined a machine. */
export interface JoinedRequest extends AdoptionRequest {
  readonly memoryMiB: number;
}

export const isJoined = (asked: object): asked is JoinedRequest => "memoryMiB" in asked;

/** For what shows the console. */
export interface ConsoleRequest {
  /** Also what is printed from now on. */
  readonly follows: boolean;
}

/** For what begins a shell in the guest beside its containers: the stream stays under this name for the process that goes on with it. */
export interface ShellRequest {
  readonly name: string;
  /** The container that it is in the guest. */
  readonly id: string;
  /** config.json of that. */
  readonly config: string;
  readonly terminal: boolean;
  /** The shell: a path below /usr of the machine's processes on the host, which is that of the host. */
  readonly program: string;
  /** Of the monitor on the host, and its start time as /proc/PID/stat has it. */
  readonly pid: number;
  readonly startTime: string;
  readonly seconds: number;
}

/** For what begins a further process: the stream stays under this name for the process that goes on with it. */
export interface BeginRequest {
  readonly opening: Opening;
  readonly name: string;
  readonly seconds: number;
}

/** For the hook at the end. */
export interface EndRequest {
  /** Path of the network namespace that the machine has joined. */
  readonly network?: string;
  /** What the container leaves in the machine that it has joined. */
  readonly joined?: { readonly id: string; readonly pid: number; readonly startTime: string };
}

/** For the hook that makes a container in the machine of another. */
export interface AttachRequest {
  readonly id: string;
  readonly rootfs: string;
  readonly mountPoints: readonly MountPoint[];
  readonly config: string;
  /** That the guest's kernel needs for the container's devices. */
  readonly modules: readonly string[];
  readonly terminal: boolean;
  /** How long it may take. */
  readonly seconds: number;
}

/** For the process that boots: of the operator's configuration and the sizes of the container. */
export interface MachineRequest {
  readonly id: string;
  /** Of the container's root, on the host. */
  readonly rootfs: string;
  /** To be made in the root where they are missing: it is read-only in the guest. */
  readonly mountPoints: readonly MountPoint[];
  /** config.json for the guest's side. */
  readonly config: string;
  /** That the guest's kernel needs for the container's devices. */
  readonly modules: readonly string[];
  readonly disks: readonly Disk[];
  readonly terminal: boolean;
  /** It has a network namespace on the host, whose interfaces are the machine's. */
  readonly network: boolean;
  readonly cpus: number;
  readonly memoryMiB: number;
  /** The emulator's translation cache. */
  readonly cacheMiB: number;
  /** auto: KVM where it boots a guest, else software emulation. */
  readonly accelerator: "auto" | "tcg" | "kvm";
  readonly hypervisor: string;
  readonly virtiofsd: string;
  /** User and group id of the hypervisor. */
  readonly user: number;
  /** How long it may take to boot and to make the container. */
  readonly bootSeconds: number;
  /** The guest's console is kept for the reason why a machine has ended. */
  readonly console: boolean;
  /** Of the guest's kernel, in addition to those that runt needs. */
  readonly kernelParameters: readonly string[];
  /** Size of the guest's /dev/shm in KiB, which is that of all containers of a pod. */
  readonly sharedMemoryKiB: number;
  /** How long the guest may keep data and metadata of files. */
  readonly fileCache: "never" | "auto" | "always";
}

const PREFIX = "RUNT_MACHINE_";
/** The kernel takes no longer string of an environment than 128 KiB (MAX_ARG_STRLEN); a character is at most three bytes. */
const PIECE = 40_000;

/** Entries of an environment. */
export function toEnvironment(value: unknown): string[] {
  const text = JSON.stringify(value);
  const pieces: string[] = [];
  for (let at = 0; at < text.length; at += PIECE) pieces.push(`${PREFIX}${pieces.length}=${text.slice(at, at + PIECE)}`);
  return pieces;
}

/** Variable that says where the monitor's socket is, for a process that is not in the jail. */
export const SOCKET_VARIABLE = "RUNT_MACHINE_SOCKET";

/** The same of a list of entries. */
export function fromEntries(entries: readonly string[]): unknown {
  const values = new Map(entries.map((entry) => [entry.slice(0, entry.indexOf("=")), entry.slice(entry.indexOf("=") + 1)]));
  return fromEnvironment((name) => values.get(name));
}

/** @param get value of a variable @throws SyntaxError when there is none */
export function fromEnvironment(get: (name: string) => string | undefined): unknown {
  let text = "";
  for (let index = 0; ; index++) {
    const piece = get(`${PREFIX}${index}`);
    if (piece === undefined) return JSON.parse(text);
    text += piece;
  }
}
