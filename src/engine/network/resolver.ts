/**
 * The process that answers tasks who ask for the names of others in their networks: aardvark-dns, which outlives this one. It is found by its cgroup, where nothing else of this
 * name has the engine's directory as its working directory, and by the time of its start. It has no rights: it listens at a port above 1024, as nobody.
 */
import { createSocket } from "node:dgram";
import { closeSync, constants, fstatSync, lstatSync, openSync, readdirSync, readlinkSync, type Stats, statSync } from "node:fs";
import { basename, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { removeOwnFile, runProgram, writeAtomically } from "../../node/index.ts";
import { isAlive, makeOwnDirectory, type ProcessIdentity, processStat, readOwnFile, readProc, thisBoot } from "../own/index.ts";
import { RESOLVER_PORT } from "../plan/index.ts";
import { lastLines, searchPath } from "./command.ts";

/** Where distributions have it. */
const PLACES = ["/usr/lib/podman/aardvark-dns", "/usr/libexec/podman/aardvark-dns"];
const PACKAGE = "aardvark-dns";
/** Of the name of a process. */
const LONGEST_NAME = 15;
/** The program writes its pid there. Nobody reads it. */
const PID_FILE = "aardvark.pid";
/** It answers names below this domain without asking anybody. */
const DOMAIN = ".runt.internal";
const NOBODY = "65534";
/** An older version makes its sockets anew whenever it is told of changes: what comes in between is lost, and is asked for again. */
const BETWEEN_CHANGES_MS = 100;
const ANSWER_MS = 200;
const BETWEEN_QUESTIONS_MS = 20;
const ANSWERS = 50;
const TELL_EVERY = 10;
const END_MS = 2_000;
/** One that ends again and again is started so often in a minute. */
const MOST_STARTS = 5;
const STARTS_MS = 60_000;

/** SIGHUP says that the files have changed, and would end it before it listens for it. What tasks ask may cost it memory: it is not spared as this process is, and has a bound. */
const START = `for d in $1; do echo $$ >"$d/cgroup.procs" || exit; done; shift; ulimit -n 4096; ulimit -v 4194304; echo 0 >/proc/self/oom_score_adj; trap '' HUP
exec setpriv --reuid ${NOBODY} --regid ${NOBODY} --clear-groups --bounding-set=-all --inh-caps=-all --no-new-privs "$@"`;

export interface ResolverOptions {
  /** Of its files: it is its working directory. What says which process it is, is beside it. */
  readonly directory: string;
  /** Path of the program; undefined: where distributions have it. */
  readonly program: string | undefined;
  readonly timeoutMs: number;
  readonly cgroup: ResolverCgroup;
}

/** Where it runs: this process's own cgroup is ended by the next one. */
export interface ResolverCgroup {
  /** Makes it. Returns its directories, into which it is put. */
  make(): readonly string[];
  /** Pids of what is in it; none if it is not there. */
  processes(): readonly number[];
  /** Ends what is in it, and removes it. */
  remove(): Promise<void>;
}

export class Resolver {
  readonly #options: ResolverOptions;
  #process: ProcessIdentity | undefined;
  #files: ReadonlyMap<string, string> = new Map();
  /** Whether what is on the disk may be something else than `#files`. */
  #isChanged = false;
  #toldAt = 0;
  readonly #starts: number[] = [];
  /** Address at which it has not answered. */
  #silent: string | undefined;
  #problem = "";
  #last: Promise<void> = Promise.resolve();

  constructor(options: ResolverOptions) {
    this.#options = options;
  }

  get program(): string | undefined {
    const { program } = this.#options;
    return (program === undefined ? PLACES : [program]).find((path) => statSync(path, { throwIfNoEntry: false })?.isFile());
  }

  /** Why it does not answer, with what helps; "": it does. */
  get problem(): string {
    return this.#problem;
  }

  /** What tasks and the state directory need of the host. */
  get missing(): string {
    const tried = this.#options.program ?? PLACES.join(", ");
    return `${PACKAGE} is not installed (tried ${tried}): the package ${PACKAGE} has it; until then tasks find each other by their hosts files alone`;
  }

  /** What it is to answer from now on. It is told, and started if it is not there; without a file it is ended. Never rejects: `problem` says what has failed. */
  answer(files: ReadonlyMap<string, string>): Promise<void> {
    const isSame = files.size === this.#files.size && [...files].every(([name, text]) => this.#files.get(name) === text);
    if (isSame) return this.#last;
    this.#files = files;
    this.#isChanged = true;
    return this.#inTurn(() => this.#work());
  }

  /** Resolves when it answers at an address of the host, or does not for some seconds. To be called after `answer`. Never rejects. */
  async ready(address: string): Promise<void> {
    for (let attempt = 1; attempt <= ANSWERS && this.#files.size > 0; attempt++) {
      if (await isAnswering(address)) return;
      await delay(BETWEEN_QUESTIONS_MS);
      // An older version does not listen at an address that came after the files.
      if (attempt % TELL_EVERY === 0) await this.#inTurn(() => this.#tell());
    }
    this.#silent = address;
  }

  /** To be called again and again: it is started anew when it has ended. */
  async look(): Promise<void> {
    if (this.#files.size > 0) await this.#inTurn(() => this.#work());
  }

  /** Ends one that an earlier process of this engine has left, if there is nothing to answer. */
  async tidy(): Promise<void> {
    if (this.#files.size === 0) await this.#inTurn(() => this.#work());
  }

  async #work(): Promise<void> {
    if (this.#files.size === 0) return this.#end();
    if (this.#isChanged) {
      await delay(Math.max(0, this.#toldAt + BETWEEN_CHANGES_MS - performance.now()));
      this.#isChanged = false;
      try {
        this.#write(this.#files);
      } catch (error) {
        this.#isChanged = true;
        throw error;
      }
      await this.#tell();
    }
    if ((await this.#found()) === undefined) await this.#start();
    if (this.#silent === undefined) return;
    if (!(await isAnswering(this.#silent))) throw new Error(`it does not answer at ${this.#silent}, port ${RESOLVER_PORT}`);
    this.#silent = undefined;
  }

  #write(files: ReadonlyMap<string, string>): void {
    const fd = this.#open();
    try {
      const place = `/proc/self/fd/${fd}`;
      for (const name of readdirSync(place)) if (name !== PID_FILE && !files.has(name)) removeOwnFile(join(place, name));
      // It reads every file of its directory, so that none is made there.
      for (const [name, text] of files) writeAtomically(join(place, name), text, { durability: "none", mode: 0o644, making: this.#making });
    } finally {
      closeSync(fd);
    }
  }

  async #tell(): Promise<void> {
    const found = await this.#found();
    this.#toldAt = performance.now();
    if (found !== undefined) signal(found, "SIGHUP");
  }

  async #start(): Promise<void> {
    const { program } = this;
    if (program === undefined) throw new Error(this.missing);
    const now = performance.now();
    while (this.#starts[0] !== undefined && this.#starts[0] < now - STARTS_MS) this.#starts.shift();
    if (this.#starts.length >= MOST_STARTS)
      throw new Error(`it has ended ${MOST_STARTS} times within a minute, and is started again later`);
    this.#starts.push(now);
    // Its directory may be a new one.
    this.#write(this.#files);
    const fd = this.#open();
    try {
      const place = `/proc/self/fd/${fd}`;
      // It cannot make a file there itself.
      writeAtomically(join(place, PID_FILE), "", { durability: "none", mode: 0o666, making: this.#making });
      const words = [program, "--config", ".", "--port", String(RESOLVER_PORT), "--filter-search-domain", DOMAIN, "run"];
      const env = { PATH: searchPath(), RUST_LOG: "error" };
      const { stderr, failure } = await runProgram("sh", ["-c", START, "sh", this.#options.cgroup.make().join(" "), ...words], {
        ...{ cwd: place, env, timeoutMs: this.#options.timeoutMs },
      });
      this.#process = this.#search(fstatSync(fd));
      if (this.#process === undefined)
        throw new Error(`it could not be started: ${lastLines(stderr) || failure || "it has ended at once"}`);
    } finally {
      closeSync(fd);
    }
    writeAtomically(this.#record, JSON.stringify(this.#process), { durability: "none" });
  }

  async #end(): Promise<void> {
    const found = await this.#found();
    if (found !== undefined) await end(found);
    await this.#options.cgroup.remove();
    this.#process = undefined;
    this.#silent = undefined;
    this.#isChanged = false;
    this.#starts.length = 0;
    removeOwnFile(this.#record);
  }

  get #record(): string {
    return `${this.#options.directory}.json`;
  }

  get #making(): string {
    return `${this.#options.directory}.new`;
  }

  /** The process, if it is there. One that reads another directory, or is in another network namespace, answers nobody here, and is ended. */
  async #found(): Promise<ProcessIdentity | undefined> {
    const own = statOf(this.#options.directory);
    let found = [this.#process, recorded(this.#record)].find((one) => one !== undefined && isAlive(one));
    found ??= own && this.#search(own);
    const isRight = found !== undefined && isSame(statOf(`/proc/${found.pid}/cwd`), own) && networkOf(found.pid) === networkOf("self");
    if (found !== undefined && !isRight) await end(found);
    this.#process = isRight ? found : undefined;
    return this.#process;
  }

  /**
   * By its cgroup and its working directory: a killed engine may not have recorded it, and the pid of a file may be another process by now. The directories of other processes
   * are not looked at: one of them may be on a mount whose server does not answer, and whoever looks at it waits for as long.
   */
  #search(own: Stats): ProcessIdentity | undefined {
    const name = basename(this.program ?? PLACES[0]!).slice(0, LONGEST_NAME);
    for (const pid of this.#options.cgroup.processes()) {
      if (readProc(pid, "comm")?.trim() !== name || !isSame(statOf(`/proc/${pid}/cwd`), own)) continue;
      const stat = processStat(pid);
      if (stat !== undefined && stat.state !== "Z") return { pid, startTicks: stat.startTicks, bootId: thisBoot() };
    }
    return undefined;
  }

  /** What else has the directory's name is removed itself, and never followed. The program reaches it as its working directory only: the one above is closed to it. */
  #open(): number {
    const { directory } = this.#options;
    const there = lstatSync(directory, { throwIfNoEntry: false });
    if (there !== undefined && !there.isDirectory()) removeOwnFile(directory);
    makeOwnDirectory(directory, { mode: 0o755 });
    return openSync(directory, constants.O_DIRECTORY | constants.O_NOFOLLOW);
  }

  /** One after the other. @param work what it fails with is the problem */
  #inTurn(work: () => Promise<void>): Promise<void> {
    this.#last = this.#last.then(work).then(
      () => {
        this.#problem = "";
      },
      (error) => {
        this.#problem = `tasks find each other by their hosts files alone: the resolver ${PACKAGE}: ${error instanceof Error ? error.message : error}`;
      },
    );
    return this.#last;
  }
}

async function end(found: ProcessIdentity): Promise<void> {
  for (const how of ["SIGTERM", "SIGKILL"] as const) {
    if (!isAlive(found)) return;
    signal(found, how);
    for (const until = performance.now() + END_MS; isAlive(found) && performance.now() < until; ) await delay(10);
  }
  if (isAlive(found)) throw new Error(`the process ${found.pid} does not end`);
}

/** The process has been looked at just now. */
function signal(found: ProcessIdentity, how: NodeJS.Signals): void {
  try {
    if (isAlive(found)) process.kill(found.pid, how);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

function recorded(path: string): ProcessIdentity | undefined {
  try {
    const { pid, startTicks, bootId } = JSON.parse(readOwnFile(path).toString()) as ProcessIdentity;
    return Number.isSafeInteger(pid) && pid > 0 && bootId !== undefined ? { pid, startTicks, bootId } : undefined;
  } catch {
    // There is none, or somebody has damaged it: the process is found by its directory.
    return undefined;
  }
}

function statOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

function isSame(one: Stats | undefined, other: Stats | undefined): boolean {
  return one !== undefined && one.dev === other?.dev && one.ino === other.ino;
}

function networkOf(pid: number | "self"): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/ns/net`);
  } catch {
    return undefined;
  }
}

/** Asks for a name that it knows nothing of, and does not ask others for. Whatever it says is an answer. Source: RFC 1035, section 4.1. */
function isAnswering(address: string): Promise<boolean> {
  const labels = `ready${DOMAIN}`.split(".").map((label) => `${String.fromCharCode(label.length)}${label}`);
  const question = Buffer.concat([
    Buffer.from([0, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0]),
    Buffer.from(`${labels.join("")}\0`),
    Buffer.from([0, 1, 0, 1]),
  ]);
  return new Promise((resolve) => {
    const socket = createSocket("udp4");
    let isSettled = false;
    const settle = (is: boolean) => {
      if (isSettled) return;
      isSettled = true;
      clearTimeout(timer);
      socket
        .removeAllListeners()
        .on("error", () => {})
        .close();
      resolve(is);
    };
    const timer = setTimeout(settle, ANSWER_MS, false);
    socket.once("error", () => settle(false)).once("message", () => settle(true));
    // What goes wrong before it is connected comes here, and not as an event.
    const connected = (error?: Error | null) => {
      if (error) settle(false);
      else if (!isSettled) socket.send(question);
    };
    socket.connect(RESOLVER_PORT, address, connected);
  });
}
