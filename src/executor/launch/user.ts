/** A user by name or number, as the container's own passwd and group files have it (no NSS). */
import { closeSync, lstatSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { parseAccounts } from "../../shared/text/index.ts";
import { ExecutorError } from "../errors.ts";
import { openOwnFile } from "../own/file.ts";

export interface User {
  readonly uid: number;
  readonly gid: number;
  readonly additionalGids: readonly number[];
  /** Of `additionalGroups`, in their order. */
  readonly namedGids?: readonly number[];
  readonly home?: string;
}

const HIGHEST_ID = 0xffff_fffe;

/** "name", "uid", "name:group", "uid:gid". @throws ExecutorError user-unknown */
export function findUser(rootfs: string, text: string): User {
  const [name = "", group] = text.split(":");
  const passwd = lines(rootfs, "/etc/passwd");
  const groups = lines(rootfs, "/etc/group");
  const entry = passwd.find(([entryName, , uid]) => entryName === name || (isId(name) && uid === name));
  if (entry === undefined && !isId(name)) throw unknown("user", name, rootfs);
  const uid = Number(entry?.[2] ?? name);
  const ownGid = Number(entry?.[3] ?? 0);
  if (group === undefined) {
    const additionalGids = entry
      ? groups.filter(([, , , members = ""]) => members.split(",").includes(entry[0]!)).map(([, , gid]) => Number(gid))
      : [];
    return { uid, gid: ownGid, additionalGids: additionalGids.filter((gid) => gid !== ownGid), ...(entry?.[5] ? { home: entry[5] } : {}) };
  }
  const groupEntry = groups.find(([entryName]) => entryName === group);
  if (groupEntry === undefined && !isId(group)) throw unknown("group", group, rootfs);
  return { uid, gid: Number(groupEntry?.[2] ?? group), additionalGids: [], ...(entry?.[5] ? { home: entry[5] } : {}) };
}

/** Numbers of groups of the container. @throws ExecutorError user-unknown */
export function findGroups(rootfs: string, names: readonly string[]): number[] {
  if (names.length === 0) return [];
  const groups = lines(rootfs, "/etc/group");
  return names.map((name) => {
    const entry = groups.find(([one]) => one === name);
    if (entry === undefined) throw unknown("group", name, rootfs);
    return Number(entry[2]);
  });
}

function isId(text: string): boolean {
  return /^\d+$/.test(text) && Number(text) <= HIGHEST_ID;
}

const LARGEST = 1 << 20;

function lines(rootfs: string, path: string): string[][] {
  const file = resolveInRoot(rootfs, path);
  if (file === undefined) return [];
  let fd: number;
  try {
    // What is no regular file could block, or never end, and a container that has the same directory may make one at any time.
    fd = openOwnFile(file, LARGEST, { isOfAnybody: true });
  } catch (error) {
    const { code } = error as { readonly code?: string };
    if (code === "state-unreadable" || code === "ENOENT" || code === "ENXIO") return [];
    throw error;
  }
  try {
    return parseAccounts(readFileSync(fd, "utf8"));
  } finally {
    closeSync(fd);
  }
}

function unknown(kind: "user" | "group", name: string, rootfs: string): ExecutorError {
  return new ExecutorError("user-unknown", `no ${kind} ${JSON.stringify(name)} in ${rootfs}/etc/${kind === "user" ? "passwd" : "group"}`, {
    [kind]: name,
  });
}

const MOST_LINKS = 40;

/**
 * A path of the container as a path of the host, for reading before the container runs: links do not lead out of the root.
 * As openat2(2) with RESOLVE_IN_ROOT would: `..` stays below the root, absolute links start at it. Undefined when there is no such file. Who can
 * change the directory meanwhile decides what is read from it anyway; it is only ever read as text.
 */
export function resolveInRoot(root: string, path: string): string | undefined {
  const pending = path.split("/");
  const done: string[] = [];
  let links = 0;
  while (pending.length > 0) {
    const part = pending.shift()!;
    if (part === "" || part === ".") continue;
    if (part === "..") {
      done.pop();
      continue;
    }
    const here = join(root, ...done, part);
    const found = lstatSync(here, { throwIfNoEntry: false });
    if (found === undefined) return undefined;
    if (!found.isSymbolicLink()) {
      done.push(part);
      continue;
    }
    if (++links > MOST_LINKS) return undefined;
    const target = readlinkSync(here);
    if (target.startsWith("/")) done.length = 0;
    pending.unshift(...target.split("/"));
  }
  return join(root, ...done);
}
