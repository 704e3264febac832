/** Mounts a directory or file of the host whose path an untrusted user has chosen: the path is opened component by component, checked, and bound from the open descriptor. */
import { execFile } from "node:child_process";
import { closeSync, fstatSync, mkdirSync, rmdirSync, statSync, unlinkSync, writeFileSync } from "node:fs";
import { promisify } from "node:util";
import { isMounted } from "./mounted.ts";
import { openSource, type SourceType } from "./source.ts";

const run = promisify(execFile);

export interface Confined {
  readonly path: string;
  readonly type: SourceType | undefined;
  /** It has to be one of these directories, or below one. */
  readonly allowed: readonly string[];
  /** Of the engine: neither on the way to it, nor below it. */
  readonly own: readonly string[];
}

/** May be repeated. @param target where nothing is yet. @throws Error, which names the path and what is wrong with it */
export async function bindWithin({ path, type, allowed, own }: Confined, target: string): Promise<void> {
  if (isMounted(target)) return;
  const way: string[] = [];
  const fd = openSource(path, type, (part) => way.push(identity(part)));
  try {
    const here = identity(fd);
    if (!allowed.some((directory) => way.includes(identityAt(directory))))
      throw new Error(`${path} is below no directory that is given away`);
    for (const directory of own) {
      if (way.includes(identityAt(directory)) || waysTo(directory).includes(here)) throw new Error(`${path} is the engine's own`);
    }
    if (fstatSync(fd).isDirectory()) mkdirSync(target, { recursive: true });
    else writeFileSync(target, "", { mode: 0o600 });
    // The descriptor is mounted, even if the path leads elsewhere by now.
    await run("mount", ["--no-canonicalize", "--bind", `/proc/${process.pid}/fd/${fd}`, target]);
  } finally {
    closeSync(fd);
  }
}

/** What it was bound from stays as it is. May be repeated. @throws Error: what umount(8) says, or that something is there that was not bound */
export async function unbind(target: string): Promise<void> {
  while (isMounted(target)) await run("umount", [target]);
  const found = statSync(target, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (found.isDirectory()) rmdirSync(target);
  else unlinkSync(target);
}

function identity(fd: number): string {
  const { dev, ino } = fstatSync(fd, { bigint: true });
  return `${dev}:${ino}`;
}

/** "" when it is not there: nothing is below it. */
function identityAt(directory: string): string {
  try {
    const fd = openSource(directory);
    try {
      return identity(fd);
    } finally {
      closeSync(fd);
    }
  } catch {
    return "";
  }
}

/** Each directory above it, and itself: who has one of them has it. */
function waysTo(directory: string): string[] {
  const parts = directory.split("/").filter(Boolean);
  return ["/", ...parts.map((_, index) => `/${parts.slice(0, index + 1).join("/")}`)].flatMap((path) => {
    const found = statSync(path, { bigint: true, throwIfNoEntry: false });
    return found === undefined ? [] : [`${found.dev}:${found.ino}`];
  });
}
