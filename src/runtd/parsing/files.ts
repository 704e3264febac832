/**
 * Parses files of clients in a thread, with limits of time and memory, so that no file can block the daemon. The thread is started when it is
 * needed, and ends after it was idle for a while.
 */
import { Worker } from "node:worker_threads";
import type { ParsedFile } from "../../engine/index.ts";
import { untilAnswered } from "../../node/index.ts";
import { type ClusterPod, type ClusterRules, type PodHost, parseFile } from "../../pod/index.ts";
import { TooManyRequests } from "../http/errors.ts";
import type { WatchedText } from "../watch/read.ts";
import { type Answer, answerOf, type Limits, type Question } from "./answer.ts";

/** Maximum number of characters that the daemon parses itself. This takes less time than starting a thread, unless the file multiplies its pods. */
const SHORT = 4096;
const REPEATED = /replicas|completions/;
const LIMITS: Limits = { processorMs: 10_000, clockMs: 120_000, memoryMib: 192 };
const IDLE_MS = 10_000;
/** Maximum number of waiting files. They are parsed one after the other. */
const MOST_WAITING = 64;
/** Maximum number of threads that were ended and are still there. A thread that waits in the kernel, for example for a server, ends when that wait is over. */
const MOST_ENDING = 4;

export interface FilesOptions {
  /** Default: `LIMITS`. */
  readonly limits?: Limits;
  /** Starts a thread. Default: one that runs worker.ts. */
  readonly start?: (limits: Limits) => Worker;
}

export class Files {
  readonly #limits: Limits;
  readonly #start: (limits: Limits) => Worker;
  readonly #ending = new Set<Worker>();
  #worker: Worker | undefined;
  #idle: NodeJS.Timeout | undefined;
  #turn: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  constructor({ limits = LIMITS, start = startThread }: FilesOptions = {}) {
    this.#limits = limits;
    this.#start = start;
  }

  /** Parses tasks or Kubernetes objects. @throws TooManyRequests; Error: a defect of the parser */
  async read(text: string, host: PodHost): Promise<ParsedFile> {
    return text.length <= SHORT && !REPEATED.test(text) ? parseFile(text, host) : parsedIn(await this.#inTurn({ text, host }));
  }

  /** Parses a pod of a cluster. @throws the errors of `read` */
  async readPod(pod: ClusterPod, host: PodHost, rules: ClusterRules): Promise<ParsedFile> {
    return parsedIn(await this.#inTurn({ pod, host, rules }));
  }

  /** Reads a watched file with those that it names. @throws Error: one cannot be read, or takes too long; the errors of `read` */
  async readWatched(path: string, host: PodHost): Promise<WatchedText> {
    const answered: string[] = [];
    let answer = await this.#inTurn({ watched: path, answered, host });
    while ("unanswered" in answer) {
      // Outside of the turn: other files do not wait for the server.
      await untilAnswered([answer.unanswered]);
      answered.push(answer.unanswered);
      answer = await this.#inTurn({ watched: path, answered: [...answered], host });
    }
    if ("watched" in answer) return answer.watched;
    throw new Error("unreadable" in answer ? answer.unreadable : (parsedIn(answer).findings[0]?.message ?? "the file cannot be read"));
  }

  async #inTurn(question: Question): Promise<Answer> {
    if (this.#waiting >= MOST_WAITING) throw new TooManyRequests(`${MOST_WAITING} files wait to be read`);
    this.#waiting++;
    const answer = this.#turn.then(() => this.#ask(question));
    this.#turn = answer.catch(() => {});
    try {
      return await answer;
    } finally {
      this.#waiting--;
    }
  }

  async #ask(question: Question): Promise<Answer> {
    clearTimeout(this.#idle);
    if (this.#ending.size >= MOST_ENDING)
      return { parsed: refusal(`the file cannot be read: ${MOST_ENDING} threads that have read others wait in the kernel and do not end`) };
    const answer = await answerOf(this.#running(), question, this.#limits);
    if (typeof answer === "string") {
      // It may take its time to end, or wait in the kernel: the next file gets another one.
      this.#end();
      return { parsed: refusal(answer) };
    }
    this.#idle = setTimeout(() => this.#end(), IDLE_MS).unref();
    if ("failure" in answer) throw new Error(answer.failure);
    return answer;
  }

  #running(): Worker {
    if (this.#worker !== undefined) return this.#worker;
    const worker = this.#start(this.#limits);
    worker.unref();
    worker.on("error", () => {});
    worker.once("exit", () => {
      this.#ending.delete(worker);
      if (this.#worker === worker) this.#worker = undefined;
    });
    this.#worker = worker;
    return worker;
  }

  #end(): void {
    const worker = this.#worker;
    this.#worker = undefined;
    if (worker === undefined) return;
    this.#ending.add(worker);
    void worker.terminate();
  }
}

function startThread({ memoryMib }: Limits): Worker {
  const program = new URL(`./worker${import.meta.url.slice(import.meta.url.lastIndexOf("."))}`, import.meta.url);
  return new Worker(program, { resourceLimits: { maxOldGenerationSizeMb: memoryMib, maxYoungGenerationSizeMb: 16 } });
}

function parsedIn(answer: Answer): ParsedFile {
  if ("parsed" in answer) return answer.parsed;
  throw new Error("the thread that reads files has answered another question");
}

function refusal(message: string): ParsedFile {
  return { tasks: [], findings: [{ code: "limit", message, pointer: "", document: 0, line: 1, column: 1 }] };
}
