/** Waits for the answer of the thread that parses files, as long as the thread keeps to its limits. */
import { readFileSync } from "node:fs";
import type { Worker } from "node:worker_threads";
import type { ParsedFile } from "../../engine/index.ts";
import type { ClusterPod, ClusterRules, PodHost } from "../../pod/index.ts";
import type { WatchedText } from "../watch/read.ts";

/** Messages between the daemon and the thread. */
export type Question = (
  | { readonly text: string }
  | { readonly pod: ClusterPod; readonly rules: ClusterRules }
  /** Path of a watched file, and paths whose mounts have just answered. */
  | { readonly watched: string; readonly answered: readonly string[] }
) & { readonly host: PodHost };

export type Answer =
  | { readonly parsed: ParsedFile }
  | { readonly watched: WatchedText }
  /** A path on a mount whose server may not answer: it is to be asked, and then the question again. */
  | { readonly unanswered: string }
  /** Why a watched file was not read. */
  | { readonly unreadable: string }
  /** A defect of the parser. */
  | { readonly failure: string };

/** The first message of a thread: its number in /proc/self/task. */
export interface Begun {
  readonly thread: string;
}

export interface Limits {
  /** Processor time of a file in milliseconds. On a busy machine a small file may wait for a processor much longer than it needs one. */
  readonly processorMs: number;
  /** Time on the clock in milliseconds, for a thread that waits for something. */
  readonly clockMs: number;
  readonly memoryMib: number;
}

const LOOK_MS = 250;
/** See proc_pid_stat(5): `utime`, counted from the field behind the name. */
const USER_TIME = 14 - 3;
/** USER_HZ is 100 on every architecture. */
const MS_PER_TICK = 10;

/** Processor time of a thread of this process in milliseconds; 0 if it has ended. */
function processorMs(thread: string): number {
  try {
    const stat = readFileSync(`/proc/self/task/${thread}/stat`, "latin1");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return (Number(fields[USER_TIME]) + Number(fields[USER_TIME + 1])) * MS_PER_TICK;
  } catch {
    return 0;
  }
}

/** The number of each thread that has said it. */
const threads = new WeakMap<Worker, string>();

/** Resolves with the answer of the thread, or with a text that says why there is none: then the thread has ended, or does not serve any more. */
export function answerOf(worker: Worker, question: Question, limits: Limits): Promise<Answer | string> {
  return new Promise((resolve) => {
    const usedBefore = threads.has(worker) ? processorMs(threads.get(worker)!) : 0;
    const latest = performance.now() + limits.clockMs;
    const end = (answer: Answer | string) => {
      clearInterval(timer);
      worker.off("message", take).off("error", failed).off("exit", left).unref();
      resolve(answer);
    };
    const take = (message: Answer | Begun) => ("thread" in message ? threads.set(worker, message.thread) : end(message));
    const failed = ({ code, message }: NodeJS.ErrnoException) =>
      end(
        code === "ERR_WORKER_OUT_OF_MEMORY"
          ? `reading the file takes more than ${limits.memoryMib} MiB of memory`
          : `the file cannot be read: ${message}`,
      );
    const left = () => end("the file cannot be read: the thread that reads it has ended");
    const look = () => {
      const thread = threads.get(worker);
      const isOver = thread !== undefined && processorMs(thread) - usedBefore > limits.processorMs;
      if (!isOver && performance.now() < latest) return;
      end(
        `reading the file takes longer than ${isOver ? `${limits.processorMs / 1000} s of processor time` : `${limits.clockMs / 1000} s`}`,
      );
    };
    const timer = setInterval(look, LOOK_MS);
    worker.on("message", take).on("error", failed).on("exit", left).ref();
    try {
      worker.postMessage(question);
    } catch (error) {
      end({ failure: String(error) });
    }
  });
}
