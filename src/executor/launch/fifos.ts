/** FIFOs that are made before a launch needs them: mkfifo(1) is a process, for which each launch of a daemon would wait. */
import { renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { PROGRAM_MS, runProgram } from "../../node/index.ts";
import { makeDirectories, makingName } from "../directory.ts";

export interface SpareOptions {
  /** Directory for the FIFOs; by default one below the state directory that is removed by others when this process is dead. */
  readonly directory?: string;
  /** So many are kept; a launch takes four at most. Default: 32. */
  readonly kept?: number;
  /** Launches that come together shall not wait for a processor because of what is made for later ones. Default: 200. */
  readonly pauseMs?: number;
}

const pools = new Map<string, SpareFifos>();

class SpareFifos {
  readonly #directory: string;
  readonly #kept: number;
  readonly #pauseMs: number;
  #spare: string[] = [];
  #made = 0;
  #filling: NodeJS.Timeout | undefined;

  constructor({ directory, kept = 32, pauseMs = 200 }: SpareOptions & { readonly directory: string }) {
    this.#directory = directory;
    this.#kept = kept;
    this.#pauseMs = pauseMs;
  }

  /** Moves one to this path. Returns false if there is none that can be. */
  move(path: string): boolean {
    const spare = this.#spare.pop();
    this.#fillSoon();
    try {
      if (spare !== undefined) renameSync(spare, path);
      return spare !== undefined;
    } catch {
      // The path is on another file system, or the directory was removed.
      return false;
    }
  }

  /** Never throws: what cannot be removed is removed by others when this process is dead. */
  close(): void {
    clearTimeout(this.#filling);
    this.#spare = [];
    const ended = `${this.#directory}-ended`;
    try {
      // A mkfifo(1) that is at work knows the former path, so after this it makes only the one that it is making.
      renameSync(this.#directory, ended);
      try {
        rmSync(ended, { recursive: true });
      } catch {
        rmSync(ended, { recursive: true });
      }
    } catch {
      // It was never made, or the file system is read-only.
    }
  }

  #fillSoon(): void {
    if (this.#filling !== undefined || this.#spare.length > this.#kept / 2) return;
    this.#filling = setTimeout(() => void this.#fill(), this.#pauseMs).unref();
  }

  async #fill(): Promise<void> {
    const paths = Array.from({ length: this.#kept - this.#spare.length }, () => join(this.#directory, String(this.#made++)));
    try {
      makeDirectories(this.#directory, 0o700);
      await makeFifos(paths);
      this.#spare.push(...paths);
    } catch {
      // The launch that needs one makes it, and has the error.
    } finally {
      this.#filling = undefined;
    }
  }
}

/** From now on launches of executors in `stateDir` find FIFOs that are made already. Returns how to end it. */
export function keepSpareFifos(stateDir: string, options: SpareOptions = {}): () => void {
  const pool = new SpareFifos({ directory: join(stateDir, `${makingName()}spare`), ...options });
  pools.set(stateDir, pool);
  return () => {
    pools.delete(stateDir);
    pool.close();
  };
}

/** Like makeFifos, but takes those that are kept for executors in `stateDir`. @throws the error of mkfifo(1) */
export function takeFifos(stateDir: string, paths: readonly string[]): Promise<void> {
  const pool = pools.get(stateDir);
  return makeFifos(pool === undefined ? paths : paths.filter((path) => !pool.move(path)));
}

interface Request {
  readonly paths: readonly string[];
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** The command line of one process is bounded. */
const MOST_REQUESTS = 64;

let waiting: Request[] = [];
let isBusy = false;

/**
 * Node cannot make FIFOs. mkfifo(1) can: one process of it serves all who ask while the one before is busy. With mode 0600. Nothing has these names. @throws the error of mkfifo(1)
 */
export function makeFifos(paths: readonly string[]): Promise<void> {
  if (paths.length === 0) return Promise.resolve();
  return new Promise((resolve, reject) => {
    waiting.push({ paths, resolve, reject });
    if (!isBusy) void serve();
  });
}

async function serve(): Promise<void> {
  isBusy = true;
  while (waiting.length > 0) {
    const requests = waiting.slice(0, MOST_REQUESTS);
    waiting = waiting.slice(MOST_REQUESTS);
    const paths = requests.flatMap((request) => request.paths);
    const { message, stderr } = await runProgram("mkfifo", ["-m", "600", ...paths], { isAlone: true, timeoutMs: PROGRAM_MS });
    const error = message === "" ? undefined : new Error(stderr.trim() || message);
    // It goes on after a name that it cannot make.
    for (const { paths: wanted, resolve, reject } of requests) error === undefined || wanted.every(isFifo) ? resolve() : reject(error);
  }
  isBusy = false;
}

function isFifo(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFIFO() ?? false;
}
