/** What the host gives to a privileged container: the capabilities of this process and the devices below /dev. */
import { lstatSync, readdirSync, readFileSync, type Stats } from "node:fs";
import { join } from "node:path";
import { CAPABILITIES, deviceNumbers } from "../../shared/linux/index.ts";
import { DEFAULT_DEVICES } from "../profile.ts";
import type { Device } from "./command.ts";

export interface HostRights {
  /** The effective set of this process, by the names that this version knows: no child of it can have more. */
  readonly capabilities: readonly string[];
  readonly devices: readonly Device[];
}

export function hostRights(): HostRights {
  return { capabilities: ownCapabilities(readFileSync("/proc/self/status", "utf8")), devices: hostDevices("/dev") };
}

/** @param status content of /proc/PID/status */
export function ownCapabilities(status: string): string[] {
  const effective = BigInt(`0x${/^CapEff:\s*([0-9a-f]+)$/m.exec(status)?.[1] ?? "0"}`);
  return CAPABILITIES.filter((_, number) => (effective >> BigInt(number)) & 1n);
}

/** Each container has its own of them: mounts, links into /proc, the terminal multiplexer and the console. */
const OWN = new Set(["console", "fd", "mqueue", "ptmx", "pts", "shm"]);
/** Directories in which managers of containers and of devices keep files of theirs. */
const OF_OTHERS = new Set([".lxc", ".lxd-mounts", ".udev"]);

/** @param top directory whose nodes are those of /dev */
export function hostDevices(top: string): Device[] {
  const names = readdirSync(top).filter((name) => !OWN.has(name) && !OF_OTHERS.has(name));
  return names.flatMap((name) => devicesAt(top, name)).filter(({ path }) => !(path in DEFAULT_DEVICES));
}

function devicesAt(top: string, name: string): Device[] {
  const path = join(top, name);
  const info = lstatSync(path, { throwIfNoEntry: false });
  if (info === undefined) return [];
  if (info.isDirectory()) return entriesOf(path).flatMap((below) => devicesAt(top, join(name, below)));
  const device = deviceOf(info);
  return device === undefined ? [] : [{ path: join("/dev", name), ...device }];
}

/** A directory may vanish with its device. */
function entriesOf(path: string): string[] {
  try {
    return readdirSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

/** @returns undefined for what is no device: also 0:0, by which an overlay marks a removed file */
export function deviceOf(info: Pick<Stats, "rdev" | "mode" | "uid" | "gid" | "isCharacterDevice" | "isBlockDevice">) {
  const type = info.isCharacterDevice() ? "c" : info.isBlockDevice() ? "b" : undefined;
  if (type === undefined || info.rdev === 0) return undefined;
  const { major, minor } = deviceNumbers(BigInt(info.rdev));
  return { type, major: Number(major), minor: Number(minor), fileMode: info.mode & 0o777, uid: info.uid, gid: info.gid } as const;
}
