/** Hears at once when another program changes the table of nftables, and asks whether anything in nftables has changed: runt-pause (native-bindings/pause/watch.c). */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { endWithThis } from "../../../node/index.ts";

/** It answers at once, or does not work. */
const ANSWER_MS = 1_000;
/** One that ends again and again is started after this time, then after twice the time, and so on. */
const LEAST_RESTART_MS = 1_000;
const MOST_RESTART_MS = 60_000;
/** So long after its start a program of this engine can still be the one that an earlier message is about. */
const OWN_MS = 10_000;
const LONGEST_LINE = 1_000;

export interface TableWatchOptions {
  /** Path of runt-pause. @throws PauseNotFoundError */
  readonly helper: () => string;
  /** Without the family, which is ip. */
  readonly table: string;
  /** Another program has changed something of the table, or it is not known who. */
  readonly onChanged: () => void;
}

interface Running {
  readonly child: ChildProcessWithoutNullStreams;
  readonly startedAt: number;
  /** It has said that it listens. */
  isReady: boolean;
  text: string;
  readonly asked: ((generation: number | undefined) => void)[];
}

export class TableWatch {
  readonly #options: TableWatchOptions;
  #running: Running | undefined;
  #restartMs = LEAST_RESTART_MS;
  #notBefore = 0;
  /** When programs of this engine that may change the table were started, by pid. */
  readonly #own = new Map<number, number>();

  constructor(options: TableWatchOptions) {
    this.#options = options;
  }

  /** Changes of this process are not told. */
  readonly own = (pid: number): void => {
    const now = performance.now();
    for (const [one, at] of this.#own) if (at + OWN_MS < now) this.#own.delete(one);
    this.#own.set(pid, now);
  };

  /** Starts it if it is not there. Never throws: without it, the table is looked at as a whole. */
  start(): void {
    if (this.#running !== undefined || performance.now() < this.#notBefore) return;
    this.#notBefore = performance.now() + this.#restartMs;
    this.#restartMs = Math.min(MOST_RESTART_MS, this.#restartMs * 2);
    let child: ChildProcessWithoutNullStreams;
    try {
      child = spawn(this.#options.helper(), ["watch", this.#options.table], { stdio: "pipe", cwd: "/" });
    } catch {
      return;
    }
    endWithThis(child);
    const running: Running = { child, startedAt: performance.now(), isReady: false, text: "", asked: [] };
    this.#running = running;
    child.stdin.on("error", () => {});
    child.stdout.on("data", (bytes: Buffer) => this.#hear(running, bytes));
    child.stderr.resume();
    child.once("error", () => this.#ended(running)).once("exit", () => this.#ended(running));
  }

  stop(): void {
    if (this.#running !== undefined) this.#end(this.#running);
    this.#notBefore = 0;
    this.#restartMs = LEAST_RESTART_MS;
  }

  /** A number that is another one after every change of nftables in this network namespace. undefined: it is not known. */
  generation(): Promise<number | undefined> {
    const running = this.#running;
    if (running === undefined || !running.isReady) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#end(running), ANSWER_MS);
      running.asked.push((generation) => {
        clearTimeout(timer);
        resolve(generation);
      });
      running.child.stdin.write("?");
    });
  }

  #hear(running: Running, bytes: Buffer): void {
    if (running !== this.#running) return;
    const lines = (running.text + bytes.toString("latin1")).split("\n");
    running.text = lines.pop()!;
    // It says nothing else than such lines.
    if (running.text.length > LONGEST_LINE) {
      this.#end(running);
      return;
    }
    let isChanged = false;
    for (const line of lines) {
      const [word, ...numbers] = line.split(" ");
      if (word === "generation") this.#answered(running, Number(numbers[0]));
      else isChanged ||= numbers.length === 0 || numbers.some((pid) => !this.#own.has(Number(pid)));
    }
    if (isChanged) this.#options.onChanged();
  }

  #answered(running: Running, generation: number): void {
    if (running.isReady) running.asked.shift()?.(generation);
    running.isReady = true;
  }

  #end(running: Running): void {
    running.child.kill("SIGKILL");
    this.#ended(running);
  }

  #ended(running: Running): void {
    if (running !== this.#running) return;
    this.#running = undefined;
    if (performance.now() - running.startedAt > MOST_RESTART_MS) this.#restartMs = LEAST_RESTART_MS;
    for (const one of running.asked) one(undefined);
  }
}
