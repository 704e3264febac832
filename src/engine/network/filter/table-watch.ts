/** Hears at once when another program changes the table of nftables, and asks whether anything in nftables has changed: runt-pause (native-bindings/pause/watch.c). */
import { type ChildProcess, spawn } from "node:child_process";
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
  /** Without the families, which are ip and bridge. */
  readonly table: string;
  /** Another program has changed something of the table, or it is not known who. */
  readonly onChanged: () => void;
  /** It does not work, and for the same reason only once in a row. Changes are then seen when the table is looked at. */
  readonly onFailed: (why: string) => void;
}

interface Running {
  readonly child: ChildProcess;
  readonly startedAt: number;
  /** It has said that it listens. */
  isReady: boolean;
  text: string;
  readonly asked: ((generation: number | undefined) => void)[];
  /** What it has written to its standard error, as far as it is told. */
  errors: string;
  /** Why it was ended, if that is worth to be told. */
  why: string | undefined;
}

export class TableWatch {
  readonly #options: TableWatchOptions;
  #running: Running | undefined;
  #restartMs = LEAST_RESTART_MS;
  #notBefore = 0;
  #told = "";
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
    let child: ChildProcess;
    try {
      child = spawn(this.#options.helper(), ["watch", this.#options.table], { stdio: "pipe", cwd: "/" });
    } catch (error) {
      this.#tell(String(error));
      return;
    }
    const running: Running = { child, startedAt: performance.now(), isReady: false, text: "", asked: [], errors: "", why: undefined };
    this.#running = running;
    child.once("error", (error) => {
      this.#tell(String(error));
      this.#ended(running);
    });
    child.once("exit", () => this.#ended(running)).once("close", () => this.#closed(running));
    const { stdin, stdout, stderr } = child as { [Name in "stdin" | "stdout" | "stderr"]: ChildProcess[Name] | undefined };
    // Where this process may open no more files, Node makes no pipes, whatever its types say, and to end the child would end this process: it has no pid. The error is told later.
    if (!stdin || !stdout || !stderr) {
      this.#ended(running);
      return;
    }
    endWithThis(child);
    stdin.on("error", () => {});
    stdout.on("data", (bytes: Buffer) => this.#hear(running, bytes));
    stderr.on("data", (bytes: Buffer) => {
      if (running.errors.length < LONGEST_LINE) running.errors += bytes.toString("latin1").slice(0, LONGEST_LINE);
    });
    const timer = this.#later(running, () => running.isReady);
    child.once("exit", () => clearTimeout(timer));
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
      let isAnswered = false;
      const timer = this.#later(running, () => isAnswered);
      running.asked.push((generation) => {
        isAnswered = true;
        clearTimeout(timer);
        resolve(generation);
      });
      running.child.stdin!.write("?");
    });
  }

  /** Ends it unless it has answered in time. After this process was held up, the answer may be there and not be read yet: that is done before setImmediate calls. */
  #later(running: Running, isAnswered: () => boolean): NodeJS.Timeout {
    const late = () => {
      if (!isAnswered()) this.#end(running, `it has not answered within ${ANSWER_MS} ms`);
    };
    return setTimeout(() => setImmediate(late), ANSWER_MS);
  }

  #hear(running: Running, bytes: Buffer): void {
    if (running !== this.#running) return;
    const lines = (running.text + bytes.toString("latin1")).split("\n");
    running.text = lines.pop()!;
    // It says nothing else than such lines.
    if (running.text.length > LONGEST_LINE) {
      this.#end(running, "it has printed a line that is too long");
      return;
    }
    let isChanged = false;
    for (const line of lines) {
      const [word, ...numbers] = line.split(" ");
      if (word === "generation") this.#answered(running, Number(numbers[0]));
      else isChanged ||= numbers.length === 0 || numbers.some((pid) => !this.#isOwn(Number(pid)));
    }
    if (isChanged) this.#options.onChanged();
  }

  /** A pid can belong to another program later. */
  #isOwn(pid: number): boolean {
    const at = this.#own.get(pid);
    return at !== undefined && at + OWN_MS >= performance.now();
  }

  #answered(running: Running, generation: number): void {
    if (running.isReady) running.asked.shift()?.(generation);
    else this.#told = "";
    running.isReady = true;
  }

  /** @param why absent: it has done nothing wrong */
  #end(running: Running, why?: string): void {
    if (running !== this.#running) return;
    running.why = why;
    running.child.kill("SIGKILL");
    this.#ended(running);
  }

  #ended(running: Running): void {
    if (running !== this.#running) return;
    this.#running = undefined;
    if (performance.now() - running.startedAt > MOST_RESTART_MS) this.#restartMs = LEAST_RESTART_MS;
    for (const one of running.asked) one(undefined);
  }
  /** All that it has printed is read. */
  #closed({ errors, why }: Running): void {
    const [line = ""] = errors.trim().split("\n");
    const told = [why, line].filter((one) => one !== undefined && one !== "").join(": ");
    if (told !== "") this.#tell(told);
  }

  #tell(why: string): void {
    if (why === this.#told) return;
    this.#told = why;
    this.#options.onFailed(`runt-pause watch does not work: ${why}`);
  }
}
