/**
 * Parses files of clients in a thread, with limits of time and memory, so that no file can block the daemon. The thread is started when it is
 * needed, and ends after it was idle for a while.
 */
import { Worker } from "node:worker_threads";
import type { ParsedFile } from "../../engine/index.ts";
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

export class Files {
  #worker: Worker | undefined;
  #idle: NodeJS.Timeout | undefined;
  #turn: Promise<unknown> = Promise.resolve();
  #waiting = 0;

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
    const answer = await this.#inTurn({ watched: path, host });
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
    const answer = await answerOf(this.#running(), question, LIMITS);
    if (typeof answer === "string") return { parsed: refusal(answer) };
    this.#idle = setTimeout(() => this.#end(), IDLE_MS).unref();
    if ("failure" in answer) throw new Error(answer.failure);
    return answer;
  }

  #running(): Worker {
    if (this.#worker !== undefined) return this.#worker;
    const program = new URL(`./worker${import.meta.url.slice(import.meta.url.lastIndexOf("."))}`, import.meta.url);
    const worker = new Worker(program, { resourceLimits: { maxOldGenerationSizeMb: LIMITS.memoryMib, maxYoungGenerationSizeMb: 16 } });
    worker.unref();
    worker.on("error", () => {});
    worker.once("exit", () => {
      if (this.#worker === worker) this.#worker = undefined;
    });
    this.#worker = worker;
    return worker;
  }

  #end(): void {
    const worker = this.#worker;
    this.#worker = undefined;
    void worker?.terminate();
  }
}

function parsedIn(answer: Answer): ParsedFile {
  if ("parsed" in answer) return answer.parsed;
  throw new Error("the thread that reads files has answered another question");
}

function refusal(message: string): ParsedFile {
  return { tasks: [], findings: [{ code: "limit", message, pointer: "", document: 0, line: 1, column: 1 }] };
}
