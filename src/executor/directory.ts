/**
 * What an executor has on disk: STATEDIR/ID/{executor.json,config.json,record.json,started.json,stdin,stdout,stderr}; the runtime's state is in STATEDIR/@runtime. With a
 * directory in memory all of this is there, and STATEDIR/ID is a symbolic link to it.
 */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { writeAtomically } from "../node/index.ts";
import { type ExitRecord, type LogCounts, type ProcessId, START_FIFO } from "../shared/protocol/index.ts";
import { exactJson } from "../shared/text/index.ts";
import { ExecutorError } from "./errors.ts";
import { checkId } from "./launch/check.ts";
import type { StreamName } from "./launch/stdio.ts";
import { removeOwnTree } from "./own/file.ts";
import { isAlive, isOfAnotherBoot, processStat, thisBoot, unlessShortage } from "./process/procfs.ts";
import { isProcess, parseState, readLogCounts, readRecord, readStateFile } from "./record.ts";
import { checkProtocol, PROTOCOL, type Protocol } from "./version.ts";

/** executor.json: what a supervisor that comes later has to know. */
export interface Description {
  readonly protocol: Protocol;
  readonly id: string;
  readonly rootfs: string;
  /** Streams that are FIFOs in the directory. */
  readonly pipes: readonly StreamName[];
  /** The process that launches: while it lives, a launch without a record may still begin. */
  readonly supervisor: ProcessId;
  /** Of the supervisor; absent before protocol 1.1. */
  readonly bootId?: string;
  /** Which directory the state directory was, "DEVICE:INODE": in a copy of it the executor is another one's. Absent before protocol 1.2. */
  readonly directory?: string;
}

/** No id begins like this. */
const MAKING = "@making-";
const MAKING_NAME = /^@making-(\d+)-(\d+)-(?:([0-9a-f-]{36})-)?/;

/** Begins the name of a directory that is removed when this process is dead (sweep). */
export function makingName(): string {
  const { pid, startTicks } = ownProcess();
  return `${MAKING}${pid}-${startTicks}-${thisBoot()}-`;
}

export class Directory {
  readonly path: string;
  readonly id: string;
  /** Where it really is. */
  readonly #home: string;

  /** @param memoryDir of one that is to be made there; one that is there is found. @throws ExecutorError invalid-argument */
  constructor(
    readonly stateDir: string,
    id: string,
    memoryDir?: string,
  ) {
    checkId(id);
    if (!isAbsolute(stateDir)) throw new ExecutorError("invalid-argument", `stateDir ${stateDir} is not absolute`);
    if (memoryDir !== undefined && !isAbsolute(memoryDir))
      throw new ExecutorError("invalid-argument", `memoryDir ${memoryDir} is not absolute`);
    this.id = id;
    this.path = join(stateDir, id);
    this.#home = memoryDir ?? linkedHome(this.path) ?? stateDir;
  }

  /** State root of the runtime. */
  get runtimeRoot(): string {
    return join(this.#home, "@runtime");
  }

  get record(): string {
    return join(this.path, "record.json");
  }

  /**
   * Make it, whole or not at all: what is being made has another name. `fill` makes what else belongs into it.
   * @throws ExecutorError id-exists
   */
  async make(rootfs: string, pipes: readonly StreamName[], config: object, fill: (path: string) => Promise<void>): Promise<void> {
    for (const directory of new Set([this.stateDir, this.#home])) {
      makeDirectories(directory, 0o700);
      sweep(directory);
    }
    const supervisor = ownProcess();
    const making = mkdtempSync(join(this.#home, makingName()));
    try {
      const description: Description = {
        protocol: PROTOCOL,
        id: this.id,
        rootfs,
        pipes,
        supervisor,
        bootId: thisBoot(),
        directory: identityOf(this.stateDir),
      };
      writeFileSync(join(making, "config.json"), exactJson(config), { mode: 0o600 });
      writeFileSync(join(making, "executor.json"), JSON.stringify(description), { mode: 0o600 });
      await fill(making);
      this.#place(making);
    } catch (error) {
      rmSync(making, { recursive: true, force: true });
      const { code } = error as NodeJS.ErrnoException;
      if (code !== "ENOTEMPTY" && code !== "EEXIST") throw error;
      throw new ExecutorError("id-exists", `there is an executor ${this.id} in ${this.stateDir}`);
    }
  }

  /** A link that leads nowhere is of a directory that was never there, or is no longer: the next sweep removes it. */
  #place(making: string): void {
    const place = join(this.#home, this.id);
    if (place !== this.path) symlinkSync(place, this.path);
    renameSync(making, place);
  }

  /** The exit record, with the time of the start. @throws ExecutorError state-unreadable */
  exitRecord(): ExitRecord | undefined {
    const record = readRecord(this.record, this.id);
    if (this.awaitsStart(record)) return record;
    const startedMs = this.#startedMs();
    return record === undefined || startedMs === undefined ? record : { ...record, startedMs };
  }

  /** The pump of its log, and what it has counted. */
  logCounts(): LogCounts | undefined {
    return readLogCounts(this.record);
  }

  /** init of a container that create has made waits for start: until then it has its FIFO. */
  awaitsStart(record: ExitRecord | undefined): boolean {
    return record?.phase === "created" && existsSync(join(this.runtimeRoot, this.id, START_FIFO));
  }

  /** Written before the start: while init waits it means nothing. */
  recordStart(): number {
    const startedMs = Date.now();
    // Another supervisor may start it at the same time.
    const making = `${this.#started}.${process.pid}`;
    writeAtomically(this.#started, JSON.stringify({ startedMs }), { durability: "none", making });
    return startedMs;
  }

  #startedMs(): number | undefined {
    const text = readStateFile(this.#started);
    return text === undefined
      ? undefined
      : parseState<{ startedMs: number }>(this.#started, text, ({ startedMs }) => Number.isFinite(startedMs)).startedMs;
  }

  get #started(): string {
    return join(this.path, "started.json");
  }

  hasRuntime(): boolean {
    return existsSync(join(this.runtimeRoot, this.id));
  }

  /** Why the runtime's own state cannot be used; undefined: it can. */
  runtimeLoss(): string | undefined {
    const path = join(this.runtimeRoot, this.id, "state.json");
    try {
      const text = readStateFile(path);
      if (text === undefined) return `${path} is gone`;
      parseState<{ id: string }>(path, text, ({ id }) => id === this.id);
      return undefined;
    } catch (error) {
      if (error instanceof ExecutorError) return error.message;
      throw error;
    }
  }

  /** What the runtime has on disk of a container that has no process any more: its mounts and cgroups are gone, and others may have their numbers and names. */
  forgetRuntime(): void {
    removeOwnTree(join(this.runtimeRoot, this.id));
  }

  exists(): boolean {
    return existsSync(this.path);
  }

  /** @throws ExecutorError id-unknown, protocol, state-unreadable, state-moved */
  description(): Description {
    const description = this.#described();
    const here = identityOf(this.stateDir);
    const { directory = here, bootId } = description;
    // After another boot no process of it is there, and the file system may have another number.
    if (directory !== here && !isOfAnotherBoot(bootId))
      throw new ExecutorError("state-moved", `the executor ${this.id} was made in another directory than ${this.stateDir}`, {
        ...{ stateDir: this.stateDir, directory, here },
      });
    return description;
  }

  /** @throws ExecutorError state-moved. What cannot be read says nothing of where it was made. */
  refuseMoved(): void {
    try {
      this.description();
    } catch (error) {
      if (error instanceof ExecutorError && error.code === "state-moved") throw error;
    }
  }

  #described(): Description {
    const path = join(this.path, "executor.json");
    const text = readStateFile(path);
    if (text === undefined) {
      if (this.exists()) throw new ExecutorError("state-unreadable", `${path} is gone`, { path });
      throw new ExecutorError("id-unknown", `there is no executor ${this.id} in ${this.stateDir}`);
    }
    // What a newer protocol has beside its number is not known here.
    checkProtocol(parseState<Description>(path, text, ({ protocol }) => protocol).protocol, path);
    return parseState<Description>(
      path,
      text,
      ({ id, supervisor, pipes }) => id === this.id && isProcess(supervisor) && Array.isArray(pipes),
    );
  }

  /** Of its config.json; none where that is damaged or gone. @throws EMFILE, ENFILE, ENOMEM: nobody can say */
  annotations(): Readonly<Record<string, string>> {
    try {
      const text = readStateFile(join(this.path, "config.json"));
      const { annotations } = JSON.parse(text ?? "{}") as { annotations?: Record<string, string> };
      return annotations ?? {};
    } catch (error) {
      return unlessShortage(error) ?? {};
    }
  }

  remove(): void {
    // The monitor has removed the runtime's, unless something else had its place.
    this.forgetRuntime();
    for (const path of new Set([join(this.#home, this.id), this.path])) removeOwnTree(path);
  }
}

/** "DEVICE:INODE" */
function identityOf(path: string): string {
  const { dev, ino } = statSync(path, { bigint: true });
  return `${dev}:${ino}`;
}

/** undefined: it is no link, or leads nowhere. */
function linkedHome(path: string): string | undefined {
  try {
    return existsSync(path) ? dirname(readlinkSync(path)) : undefined;
  } catch {
    return undefined;
  }
}

/** What dead supervisors were making, and what a boot has taken out of memory. */
function sweep(directory: string): void {
  const ownName = makingName();
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    if (entry.name.startsWith(ownName)) continue;
    const path = join(directory, entry.name);
    const [, pid, startTicks, bootId] = MAKING_NAME.exec(entry.name) ?? [];
    const isLeft = pid !== undefined && startTicks !== undefined && !isAlive({ pid: Number(pid), startTicks, bootId });
    if (isLeft) removeUnlessMounted(path);
    else if (entry.isSymbolicLink() && !existsSync(path)) rmSync(path, { force: true });
  }
}

/** What somebody has mounted in it keeps no executor from being made. */
function removeUnlessMounted(path: string): void {
  try {
    removeOwnTree(path);
  } catch (error) {
    if (!(error instanceof ExecutorError && error.code === "stuck")) throw error;
  }
}

let own: ProcessId | undefined;

function ownProcess(): ProcessId {
  own ??= { pid: process.pid, startTicks: processStat(process.pid)?.startTicks ?? "0" };
  return own;
}

/**
 * mkdir -p with an end: Node's own recursive mkdirSync repeats for ever where a directory exists and nothing can be made in it (ENOENT), as in /proc.
 * What is missing is made with this mode. @throws the error of mkdir(2), for the directory that cannot be made; ENOTDIR: something else has the name
 */
export function makeDirectories(path: string, mode = 0o777): void {
  const missing: string[] = [];
  for (let at = path; !isThere(at); at = dirname(at)) missing.unshift(at);
  for (const directory of missing) {
    try {
      mkdirSync(directory, { mode });
    } catch (error) {
      // Another process has made it meanwhile.
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
  }
}

/** @throws Error ENOTDIR */
function isThere(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return false;
  if (found.isDirectory()) return true;
  throw Object.assign(new Error(`ENOTDIR: not a directory, mkdir '${path}'`), { code: "ENOTDIR", path });
}
