/** From a profile to its filter: compiled, or taken from the cache below the state root. And the listener of a filter, handed to its agent. */
import { RuntError } from "../errors/index.ts";
import * as host from "../host/index.ts";
import { SECCOMP_ACTIONS, SECCOMP_ARCHITECTURES } from "../spec/index.ts";
import { answersOf, compactFilter, Unclear } from "./compact.ts";
import { disassemble, enosysStub, RETURN } from "./stub.ts";

/** Changes when the same profile gives another program for reasons that are not in the key. */
const FORMAT = 2;

export interface FilterRequest {
  /** Canonical text (src/runtime/plan/compile/seccomp.ts). */
  readonly profile: string;
  readonly enosysForNewer: boolean;
  /** Where the BPF program goes. */
  readonly path: string;
}

/**
 * Compile a profile, or take it from the cache below the state root. Returns the system calls that libseccomp does not know.
 * @throws RuntError "config-invalid" for what libseccomp refuses, HostError of the file
 */
export function prepareFilter(root: string, request: FilterRequest): readonly string[] {
  const key = cacheKey(request);
  const cached = lookup(root, key);
  const filter = cached ?? compile(request);
  const linkable = cached !== undefined || store(root, key, filter);
  if (!linkable || !link(cachedPath(root, key), request.path)) writeProgram(request.path, filter.program);
  return filter.unknown;
}

/** One line each for everything that influences the program, and the profile, which is unambiguous itself, at the end. */
function cacheKey({ profile, enosysForNewer }: FilterRequest): string {
  const { version, commit } = host.build;
  const parts = [FORMAT, version, commit, host.seccompVersion, host.architecture, enosysForNewer];
  return host.sha256(`${parts.join("\n")}\n${profile}`);
}

function compile({ profile, enosysForNewer }: FilterRequest): Filter {
  const { program, unknown, highest } = callLibrary(profile);
  return { program: compactFilter(enosysForNewer ? join(enosysStub(highest), program) : program), unknown };
}

function callLibrary(profile: string): host.SeccompProgram {
  try {
    return host.seccompCompile(profile);
  } catch (error) {
    if (!(error instanceof Error) || !("errno" in error)) throw error;
    const { syscall, path = "" } = error as host.HostError;
    const what =
      syscall === "seccomp_arch_add"
        ? `architectures: ${architectureName(Number(path))} cannot share a filter with the machine's own`
        : `syscalls: ${path} cannot be added`;
    throw new RuntError("config-invalid", `linux.seccomp.${what}: ${host.reason(error)}`, { pointer: "/linux/seccomp", cause: error });
  }
}

function architectureName(token: number): string {
  return Object.entries(SECCOMP_ARCHITECTURES).find(([, value]) => value === token)?.[0] ?? String(token);
}

function join(first: ArrayBuffer, second: ArrayBuffer): ArrayBuffer {
  const joined = new Uint8Array(first.byteLength + second.byteLength);
  joined.set(new Uint8Array(first));
  joined.set(new Uint8Array(second), first.byteLength);
  return joined.buffer;
}

/** Other file system, too many links, refused inside a sandbox, evicted a moment ago: the caller has the program. */
function link(from: string, to: string): boolean {
  try {
    host.link(from, to);
    return true;
  } catch {
    return false;
  }
}

function writeProgram(path: string, program: ArrayBuffer): void {
  const fd = host.open(path, host.O.WRONLY | host.O.CREAT | host.O.EXCL | host.O.NOFOLLOW, 0o600);
  try {
    host.write(fd, program);
  } finally {
    host.close(fd);
  }
}

interface Filter {
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

/**
 * Compiled filters below ROOT/@cache/seccomp (no container id has an `@`): KEY is the BPF program,
 * KEY.json says how long it is, what its digest is, and what was wrong with the profile. Whatever is
 * missing, damaged or not ours alone counts as absent; no failure here is anybody's failure.
 */
function cachedPath(root: string, key: string): string {
  return `${root}/@cache/seccomp/${key}`;
}

function lookup(root: string, key: string): Filter | undefined {
  return attempt(() => {
    const path = cachedPath(root, key);
    if (!isTrusted(root) || !isPrivate(path) || !isPrivate(`${path}.json`)) return undefined;
    const note = parseNote(host.utf8Decode(host.readBytes(`${path}.json`, NOTE_LIMIT)));
    const program = host.readBytes(path, PROGRAM_LIMIT);
    return note && host.sha256(program) === note.sha256 ? { program, unknown: note.unknown } : undefined;
  });
}

/** True: the program can be linked from the cache now. */
function store(root: string, key: string, { program, unknown }: Filter): boolean {
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

/** execve(2) where runt runs. */
const EXECVE = {
  amd64: { architecture: SECCOMP_ARCHITECTURES.SCMP_ARCH_X86_64, number: 59 },
  arm64: { architecture: SECCOMP_ARCHITECTURES.SCMP_ARCH_AARCH64, number: 221 },
} as const;

/** The low half of an answer is an errno or a note for a tracer. */
const ACTION = 0xffff_0000;
/** Whoever listens decides: the call may be made. */
const PASSING: ReadonlySet<number> = new Set([
  SECCOMP_ACTIONS.SCMP_ACT_ALLOW,
  SECCOMP_ACTIONS.SCMP_ACT_LOG,
  SECCOMP_ACTIONS.SCMP_ACT_NOTIFY,
  SECCOMP_ACTIONS.SCMP_ACT_TRACE,
]);

/**
 * Whether a filter keeps a process from becoming a program. Pure. True: every execve(2) is refused.
 * False: it may be allowed, or the program cannot be followed.
 */
export function refusesExecve(filter: ArrayBuffer, machine: keyof typeof EXECVE): boolean {
  const { architecture, number } = EXECVE[machine];
  try {
    const program = disassemble(filter);
    const answer = answersOf(program, architecture, []).findLast(({ start }) => start <= number);
    const [code, , , value] = program[answer?.at ?? -1] ?? [];
    return code === RETURN && !PASSING.has(((value ?? 0) & ACTION) >>> 0);
  } catch (error) {
    if (error instanceof Unclear) return false;
    throw error;
  }
}

/** Send the container process state with the descriptor of the listener, and close the connection. */
export function notifyListener(path: string, metadata: string, descriptor: number, state: ListenerState): void {
  host.sendDescriptor(path, processState(metadata, state), descriptor);
}

export interface ListenerState {
  readonly ociVersion: string;
  readonly id: string;
  /** "creating" for the container's first process, "running" for one of exec. */
  readonly status: "creating" | "running";
  /** init of the container, as the runtime sees it. */
  readonly containerPid: number;
  /** The process whose filter it is. */
  readonly pid: number;
  readonly bundle: string;
  readonly annotations: Readonly<Record<string, string>>;
}

/** JSON of `ContainerProcessState` (config-linux, seccomp). */
export function processState(metadata: string, { containerPid, pid, annotations, ...state }: ListenerState): string {
  const { ociVersion, id, status, bundle } = state;
  return JSON.stringify({
    ociVersion,
    fds: ["seccompFd"],
    pid,
    ...(metadata !== "" && { metadata }),
    state: { ociVersion, id, status, pid: containerPid, bundle, ...(Object.keys(annotations).length > 0 && { annotations }) },
  });
}
