/**
 * Whether mounts answer whose server may be gone: network file systems, FUSE, and the like. Whoever looks at a path of a dead one waits in the kernel, for ever, and a program
 * on one thread waits with all that it does. So a child process looks first.
 *
 * A server that stops answering between this look and the next one is not seen: then the caller waits. The child makes that rare, it cannot exclude it.
 */
import { spawn } from "node:child_process";
import { lstatSync, readFileSync, readlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as later } from "node:timers/promises";
import { type MountLine, parseMountLine } from "../shared/linux/index.ts";

/** Milliseconds in which a server has to answer. */
const ANSWER_MS = 10_000;
/** File systems that a server or a program provides. Few hosts have one, so that other paths cost a look at the list of mounts. */
const SERVED =
  / - (?:9p|afs|autofs|beegfs|ceph|cifs|coda|davfs|fuse(?:blk|\.[^ ]*)?|gfs2|glusterfs|lustre|ncpfs|nfs4?|ocfs2|orangefs|smb3|smbfs|vboxsf|virtiofs) /;
/**
 * Milliseconds for which the start of a container waits, and between two tries: after a power cut, a server of files may need minutes longer than its clients.
 */
const PATIENCE_MS = 300_000;
const AGAIN_MS = 1_000;
/** Milliseconds for which answers count within one look at many paths. */
const FRESH_MS = 2_000;
/** As the kernel (path_resolution(7)). */
const MOST_LINKS = 40;

export interface Answering {
  /** Ends the wait. */
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds. Default: ten seconds for each mount. */
  readonly timeoutMs?: number;
}

/**
 * Resolves when these absolute paths answer, at once if no mount with a server is on the way to them. Whether the paths exist does not matter.
 * @throws Error: one does not answer in time; the message has its path; the reason of `signal`
 */
export async function untilAnswered(paths: readonly string[], options: Answering = {}): Promise<void> {
  const servers = paths.length === 0 ? undefined : new Servers(options);
  for (const path of new Set(paths)) await servers?.answered(path);
}

export interface Patience {
  /** Ends the wait. */
  readonly signal: AbortSignal;
  /** Called once, when the first try has failed, with the message of its error. */
  onLate(message: string): void;
  /** Milliseconds. Default: five minutes, and ten seconds for each try. */
  readonly patienceMs?: number;
  readonly timeoutMs?: number;
}

/** Tries again until the paths answer. @throws Error: not in time, the error of the last try; the reason of `signal` */
export async function untilAnsweredPatiently(paths: readonly string[], patience: Patience): Promise<void> {
  const { signal, onLate, patienceMs = PATIENCE_MS, ...options } = patience;
  const latest = performance.now() + patienceMs;
  for (let isTold = false; ; isTold = true) {
    try {
      return await untilAnswered(paths, { signal, ...options });
    } catch (error) {
      signal.throwIfAborted();
      if (performance.now() >= latest) throw error;
      if (!isTold) onLate((error as Error).message);
    }
    await later(AGAIN_MS, undefined, { signal }).catch(() => signal.throwIfAborted());
  }
}

/** For one look at many paths: reads the list of mounts once, and asks each mount once. */
export class Servers {
  readonly #signal: AbortSignal | undefined;
  readonly #timeoutMs: number;
  readonly #answers = new Map<string, boolean>();
  #mounts: readonly MountLine[] = [];
  #readMs = Number.NEGATIVE_INFINITY;

  constructor({ signal, timeoutMs = ANSWER_MS }: Answering = {}) {
    this.#signal = signal;
    this.#timeoutMs = timeoutMs;
  }

  /** As untilAnswered, for one path. */
  async answered(path: string): Promise<void> {
    await this.#ask(path, path);
  }

  /** For lstat(2): the path may be the name of a link that leads to another mount, which is not asked. @throws as untilAnswered */
  async entryAnswered(path: string): Promise<void> {
    await this.#ask(path, dirname(path));
  }

  /** For entries of a directory that has answered: whether something with a server is mounted at this path. @param path without links */
  isPoint(path: string): boolean {
    return this.#current().some(({ point }) => point === path);
  }

  async #ask(path: string, last: string): Promise<void> {
    const found = mountsOnTheWay(path, this.#current());
    // The mounts first: of a dead one, many paths may be asked for. The path itself may lead to others.
    for (const at of found.length === 0 ? [] : new Set([...found.map(({ point }) => point), last])) {
      this.#signal?.throwIfAborted();
      const answer = this.#answers.get(at) ?? (await isAnswered(at, this.#timeoutMs, this.#signal));
      this.#answers.set(at, answer);
      if (answer) continue;
      const { source, type, point } = found.findLast((one) => one.point === at) ?? found.at(-1)!;
      throw new Error(`${path} does not answer within ${this.#timeoutMs / 1000} s: ${source} (${type}) is mounted at ${point}`);
    }
  }

  /** A look that takes long sees what is mounted meanwhile, and asks again. */
  #current(): readonly MountLine[] {
    if (performance.now() - this.#readMs < FRESH_MS) return this.#mounts;
    this.#answers.clear();
    this.#mounts = servedMounts();
    this.#readMs = performance.now();
    return this.#mounts;
  }
}

/** Whether a mount with a server is on the way to an absolute path. Does not look at what is mounted there. */
export function hasServer(path: string): boolean {
  return mountsOnTheWay(path, servedMounts()).length > 0;
}

/** Whether a server or a program provides file systems of this type (as mountinfo has it), which may stop answering. */
export function isServedType(type: string): boolean {
  return SERVED.test(` - ${type} `);
}

function servedMounts(): MountLine[] {
  const lines = readFileSync("/proc/self/mountinfo", "utf8").split("\n");
  return lines.filter((line) => SERVED.test(line)).flatMap(parseMountLine);
}

/**
 * Mounts with a server that lead to a path, as far as that is seen without looking at what is mounted: links before the first one are followed, and those behind it are not
 * known.
 */
function mountsOnTheWay(path: string, mounts: readonly MountLine[]): MountLine[] {
  if (mounts.length === 0) return [];
  let waiting = partsOf(path);
  let way = "/";
  for (let links = 0; ; ) {
    // Before lstat(2), which looks at what is mounted there.
    if (mounts.some(({ point }) => point === way)) {
      const end = join(way, ...waiting);
      return mounts.filter(({ point }) => point === way || (isBelow(point, way) && (point === end || isBelow(end, point))));
    }
    const target = links > MOST_LINKS ? undefined : linkAt(way);
    if (target !== undefined) {
      links++;
      waiting = [...partsOf(target), ...waiting];
      way = target.startsWith("/") ? "/" : join(way, "..");
      continue;
    }
    const part = waiting.shift();
    if (part === undefined) return [];
    way = join(way, part);
  }
}

function isBelow(path: string, directory: string): boolean {
  return path.startsWith(directory === "/" ? directory : `${directory}/`);
}

function partsOf(path: string): string[] {
  return path.split("/").filter(Boolean);
}

/** undefined: it is no link, or it is not there. */
function linkAt(path: string): string | undefined {
  try {
    return lstatSync(path).isSymbolicLink() ? readlinkSync(path) : undefined;
  } catch {
    return undefined;
  }
}

/** Looks that are under way, by path: what does not answer keeps one process in the kernel, however often it is asked for. */
const looks = new Map<string, Look>();

interface Look {
  /** Resolves when the process has ended. */
  readonly ended: Promise<void>;
  /** Of the looks that have begun. */
  readonly number: number;
  /** Milliseconds of performance.now(). */
  readonly startMs: number;
  isLate: boolean;
}

let begun = 0;

/** Two looks are enough, however many ask at once: for each of them the second one has begun after its question. @throws the reason of `signal` */
async function isAnswered(path: string, timeoutMs: number, signal: AbortSignal | undefined): Promise<boolean> {
  const before = begun;
  for (;;) {
    const look = looks.get(path) ?? begin(path);
    // The next one does not wait for a server that did not answer: the process ends when it answers.
    if (look.isLate) return false;
    // Each look has the whole time: who has waited for another one before does not find a server dead that answers.
    if (!(await isEnded(look, look.startMs + timeoutMs - performance.now(), signal))) {
      look.isLate = true;
      return false;
    }
    // A look that had begun before may have been answered by a server that has gone since.
    if (look.number > before) return true;
  }
}

async function isEnded({ ended }: Look, ms: number, signal: AbortSignal | undefined): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  let leave = () => {};
  try {
    return await Promise.race([
      ended.then(() => true),
      new Promise<boolean>((resolve, reject) => {
        timer = setTimeout(resolve, Math.max(0, ms), false);
        leave = () => reject(signal!.reason);
        signal?.addEventListener("abort", leave);
      }),
    ]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", leave);
  }
}

/** Without the path. */
const LOOK = ["stat", "--file-system", "--dereference", "--"] as const;

/** Whether a process is a look of this program, or of an earlier one: it changes nothing, and SIGKILL does not end it before the server answers. False: it has ended. */
export function isLook(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "latin1").startsWith([...LOOK, ""].join("\0"));
  } catch {
    return false;
  }
}

/** Asks for the state of the file system, which no kernel has in memory: attributes of a file may be there for minutes after the server has gone. */
function begin(path: string): Look {
  // No runProgram: what waits in the kernel ends after any bound of it, and has to be known until then.
  const [program, ...options] = LOOK;
  const child = spawn(program, [...options, path], { cwd: "/", stdio: "ignore", detached: true });
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()).once("error", () => resolve()));
  const look: Look = { ended, number: ++begun, startMs: performance.now(), isLate: false };
  looks.set(path, look);
  void ended.then(() => looks.delete(path));
  // It keeps nobody from ending.
  child.unref();
  return look;
}
