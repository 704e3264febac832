/**
 * Mounts a path of the host that an untrusted user has chosen. The path is opened component by component, checked, and bind-mounted from the open
 * descriptor.
 */
import { closeSync, fstatSync, lstatSync, mkdirSync, rmdirSync, statSync, unlinkSync } from "node:fs";
import { isMountPoint, outputOf, unmount, writeOwnFile } from "../../node/index.ts";
import { openSource, type SourceType } from "./source.ts";

export interface Confined {
  readonly path: string;
  readonly type: SourceType | undefined;
  /** The path must be one of these directories, or below one. */
  readonly allowed: readonly string[];
  /** Directories of the engine. The path must be neither above nor below one of them. */
  readonly own: readonly string[];
}

/**
 * May be repeated: an earlier mount at the target is removed.
 * @param target mount point.
 * @throws Error that names the path and what is wrong with it
 */
export async function bindWithin({ path, type, allowed, own }: Confined, target: string): Promise<void> {
  const way: string[] = [];
  const isBelow = (directory: string) => way.includes(identityAt(directory));
  const mayMake = () => allowed.some(isBelow) && !own.some(isBelow);
  const { fd } = openSource(path, type, { onPart: (part) => way.push(identity(part)), mayMake });
  try {
    const here = identity(fd);
    if (!allowed.some(isBelow)) throw new Error(`${path} is below no directory that tasks may mount`);
    for (const directory of own) {
      if (isBelow(directory) || waysTo(directory).includes(here)) throw new Error(`${path} is the engine's own`);
    }
    if (isMountPoint(target)) {
      const found = statSync(target, { bigint: true });
      if (`${found.dev}:${found.ino}` === here) return;
      await unmount(target);
    }
    removeLink(target);
    if (fstatSync(fd).isDirectory()) mkdirSync(target, { recursive: true });
    else if (lstatSync(target, { throwIfNoEntry: false }) === undefined) writeOwnFile(target, "");
    // The descriptor is mounted, so that replacing the path in the meantime has no effect.
    await outputOf("mount", ["--no-canonicalize", "--bind", `/proc/${process.pid}/fd/${fd}`, target]);
  } finally {
    closeSync(fd);
  }
}

/**
 * Unmounts the path; its source stays as it is. May be repeated.
 * @throws Error: the message of umount(8), or that the target has content of its own
 */
export async function unbind(target: string): Promise<void> {
  await unmount(target);
  const found = lstatSync(target, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (found.isDirectory()) rmdirSync(target);
  else unlinkSync(target);
}

/** Removes a symbolic link at the target, whose own target belongs to somebody else. */
function removeLink(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) unlinkSync(path);
}

function identity(fd: number): string {
  const { dev, ino } = fstatSync(fd, { bigint: true });
  return `${dev}:${ino}`;
}

/** "" if the directory does not exist, so that no path is below it. */
function identityAt(directory: string): string {
  try {
    const { fd } = openSource(directory);
    try {
      return identity(fd);
    } finally {
      closeSync(fd);
    }
  } catch {
    return "";
  }
}

/** Identities of the directory and of all its parents. A container that gets one of them can reach the directory. */
function waysTo(directory: string): string[] {
  const parts = directory.split("/").filter(Boolean);
  return ["/", ...parts.map((_, index) => `/${parts.slice(0, index + 1).join("/")}`)].flatMap((path) => {
    const found = statSync(path, { bigint: true, throwIfNoEntry: false });
    return found === undefined ? [] : [`${found.dev}:${found.ino}`];
  });
}
