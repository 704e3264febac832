/**
 * Which mounts of a container come from outside it: criu leaves their content alone and is told at restore what to bind there. What the
 * kernel's mount table says decides; config.json names only those that look like the container's own. Pure.
 */
import type { MountLine } from "../../shared/linux/index.ts";
import { RuntError } from "../errors/index.ts";
import type { ExternalMount } from "./messages.ts";

/** Filesystems of which the kernel has one, or one a namespace: being in the host's table too does not make them the host's. */
const KERNEL_FILESYSTEMS: ReadonlySet<string> = new Set([
  "proc",
  "sysfs",
  "mqueue",
  "cgroup",
  "cgroup2",
  "securityfs",
  "debugfs",
  "tracefs",
]);

export interface MountFacts {
  /** The container's mount table. */
  readonly container: readonly MountLine[];
  /** Device numbers of the filesystems that are mounted on the host. */
  readonly hostDevices: ReadonlySet<string>;
  /** Destinations of bind mounts in config.json. */
  readonly bound: ReadonlySet<string>;
  /** linux.maskedPaths of config.json. */
  readonly masked: ReadonlySet<string>;
  /** The container has a cgroup namespace of its own: criu then makes v1 cgroup mounts anew. */
  readonly cgroupNamespace: boolean;
}

/** For a dump: mount points and their names in the image. The names are runc's: a masked file is "/dev/null", all others the mount point. */
export function externalMounts(facts: MountFacts): ExternalMount[] {
  const root = facts.container.findLast(({ point }) => point === "/");
  const external: MountLine[] = root ? [root] : [];
  const found: ExternalMount[] = [];
  for (const mount of facts.container) {
    if (mount.point === "/" || !isExternal(mount, external, facts)) continue;
    external.push(mount);
    // criu knows them by their place, also those that lie on one another.
    if (!found.some(({ key }) => key === mount.point))
      found.push({ key: mount.point, value: isMask(mount, facts) ? "/dev/null" : mount.point });
  }
  return found;
}

function isExternal(mount: MountLine, before: readonly MountLine[], { bound, hostDevices, cgroupNamespace }: MountFacts): boolean {
  if (bound.has(mount.point)) return true;
  if (mount.type === "cgroup") return !cgroupNamespace;
  if (!hostDevices.has(mount.device) || KERNEL_FILESYSTEMS.has(mount.type)) return false;
  // A part of what is there already (a path made read-only) is bound from it.
  return !before.some((other) => other.device === mount.device && isBelow(mount.root, other.root));
}

/** The host's /dev/null need not be a devtmpfs's: in a container it is bound there, or a node of some other filesystem. */
function isMask({ type, root, point }: MountLine, { masked }: MountFacts): boolean {
  return (type === "devtmpfs" && root === "/null") || (masked.has(point) && root.endsWith("/null"));
}

function isBelow(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory.endsWith("/") ? directory : `${directory}/`);
}

/** Mount points whose ids are mapped: criu has no notion of it, and a restored mount would show other owners. */
export function idMappedMounts(mounts: readonly MountLine[]): readonly string[] {
  return mounts.filter(({ options }) => options.includes("idmapped")).map(({ point }) => point);
}

/*
 * Names of mounts that criu cannot keep apart from what is around them.
 *
 * It holds an external mount as the text `mnt[KEY]:VALUE`, also one that came as key and value of its protocol, and takes what follows the
 * first `]:` for the value when a shorter key is looked for. Mount points are paths of the image (a link leads there), so a `]:` in one of
 * them names a path of the host (CVE-2026-119614 in criu, CVE-2026-119101 in runc, CVE-2026-115520 in crun). From /proc/PID/mountinfo it
 * reads words that end at any white space, of which the kernel escapes only some: a carriage return ends the name early.
 */

const SEPARATOR = "]:";
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const CONTROL = /[\0-\x1f\x7f]/;

/** Returns them. @throws RuntError "not-supported" that names the mount point */
export function requireReadableNames(mounts: readonly ExternalMount[]): readonly ExternalMount[] {
  for (const { key, value } of mounts) {
    if (key.includes(SEPARATOR) || CONTROL.test(key)) throw unreadable(key);
    if (value.includes(SEPARATOR)) {
      throw refusal(`criu cannot keep the mount point ${JSON.stringify(key)}: its source ${JSON.stringify(value)} has "]:" in its name`);
    }
  }
  return mounts;
}

/** A whole mount table: also what is not external is read by criu. @throws RuntError "not-supported" that names the mount point */
export function requireReadableTable(mounts: readonly MountLine[]): void {
  for (const { point, root } of mounts) if (CONTROL.test(point) || CONTROL.test(root)) throw unreadable(point);
}

function unreadable(mountpoint: string): RuntError {
  return refusal(`criu cannot keep the mount point ${JSON.stringify(mountpoint)}: its name has "]:" or a control character`);
}

function refusal(message: string): RuntError {
  return new RuntError("not-supported", message, { pointer: "/mounts" });
}
