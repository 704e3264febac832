/**
 * Compiled filters below ROOT/@cache/seccomp (no container id has an `@`): KEY is the BPF program, KEY.json says how long it is, what its
 * digest is, and what was wrong with the profile. Whatever is missing, damaged or not ours alone counts as absent; no failure here
 * is anybody's failure.
 */
import * as host from "../host/index.ts";

export interface Filter {
  readonly program: ArrayBuffer;
  /** System calls that libseccomp does not know. */
  readonly unknown: readonly string[];
}

interface Note {
  readonly sha256: string;
  readonly unknown: readonly string[];
}

/** A node has a handful of profiles; one that has a new one for every container must not fill the disk. */
const LIMIT = 64;
const DIRECTORIES = ["@cache", "@cache/seccomp"];
const PROGRAM_LIMIT = 4096 * 8;
const NOTE_LIMIT = 64 << 10;
const CREATE = host.O.WRONLY | host.O.CREAT | host.O.EXCL | host.O.NOFOLLOW;

export function cachedPath(root: string, key: string): string {
  return `${root}/@cache/seccomp/${key}`;
}

export function lookup(root: string, key: string): Filter | undefined {
  return attempt(() => {
    const path = cachedPath(root, key);
    if (!isTrusted(root) || !isPrivate(path) || !isPrivate(`${path}.json`)) return undefined;
    const note = parseNote(host.utf8Decode(host.readBytes(`${path}.json`, NOTE_LIMIT)));
    const program = host.readBytes(path, PROGRAM_LIMIT);
    return note && host.sha256(program) === note.sha256 ? { program, unknown: note.unknown } : undefined;
  });
}

/** True: the program can be linked from the cache now. */
export function store(root: string, key: string, { program, unknown }: Filter): boolean {
  const stored = attempt(() => {
    for (const name of DIRECTORIES) makeDirectory(`${root}/${name}`);
    if (!isTrusted(root) || !makeRoom(root)) return false;
    const note: Note = { sha256: host.sha256(program), unknown };
    replace(cachedPath(root, key), program);
    replace(cachedPath(root, `${key}.json`), JSON.stringify(note));
    return true;
  });
  return stored === true;
}

/** undefined instead of an error of the system. */
function attempt<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch (error) {
    if (error instanceof Error && "errno" in error) return undefined;
    throw error;
  }
}

function makeDirectory(path: string): void {
  if (!host.lstat(path)) host.mkdir(path, 0o700);
}

/** Directories to which only this user can have written. */
function isTrusted(root: string): boolean {
  return DIRECTORIES.every((name) => {
    const status = host.lstat(`${root}/${name}`);
    return status !== undefined && status.uid === host.geteuid() && (status.mode & 0o170077) === host.S.IFDIR;
  });
}

function isPrivate(path: string): boolean {
  const status = host.lstat(path);
  return status !== undefined && status.uid === host.geteuid() && status.mode === (host.S.IFREG | 0o600);
}

function parseNote(text: string): Note | undefined {
  let note: Partial<Note> | null;
  try {
    note = JSON.parse(text);
  } catch {
    return undefined;
  }
  const sound = typeof note?.sha256 === "string" && Array.isArray(note.unknown) && note.unknown.every((name) => typeof name === "string");
  return sound ? (note as Note) : undefined;
}

/** Temp file and rename: a reader sees a whole file or none. */
function replace(path: string, content: string | ArrayBuffer): void {
  const temporary = `${path}.${host.getpid()}`;
  attempt(() => host.unlink(temporary));
  const fd = host.open(temporary, CREATE, 0o600);
  try {
    host.write(fd, content);
    host.rename(temporary, path);
  } catch (error) {
    attempt(() => host.unlink(temporary));
    throw error;
  } finally {
    host.close(fd);
  }
}

/** At the limit, what no container uses goes. False: everything is in use. */
function makeRoom(root: string): boolean {
  const files = host.readdir(`${root}/@cache/seccomp`);
  const limit = 2 * LIMIT;
  if (files.length < limit) return true;
  const isUsed = (name: string) => (host.lstat(cachedPath(root, name))?.nlink ?? 0) > 1;
  const used = new Set(files.filter(isUsed).flatMap((name) => [name, `${name}.json`]));
  const unused = files.filter((name) => !used.has(name));
  for (const name of unused) attempt(() => host.unlink(cachedPath(root, name)));
  return files.length - unused.length < limit;
}
