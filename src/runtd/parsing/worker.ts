/** The thread that parses files of clients. The daemon may end it at any moment, for example because a file takes too long. */
import { readlinkSync } from "node:fs";
import { basename } from "node:path";
import { parentPort } from "node:worker_threads";
import { parseClusterPod, parseFile } from "../../pod/index.ts";
import { readWatched, UnansweredError } from "../watch/read.ts";
import type { Answer, Begun, Question } from "./answer.ts";

const begun: Begun = { thread: basename(readlinkSync("/proc/thread-self")) };
parentPort!.postMessage(begun);
parentPort!.on("message", ({ host, ...asked }: Question) => {
  const answer = (): Answer => {
    try {
      if ("watched" in asked) return watchedAnswer(asked.watched, host, asked.answered);
      return { parsed: "text" in asked ? parseFile(asked.text, host) : parseClusterPod(asked.pod, host, asked.rules) };
    } catch (error) {
      return { failure: error instanceof Error ? (error.stack ?? error.message) : String(error) };
    }
  };
  parentPort!.postMessage(answer());
});

/** What the author can mend is no failure of the thread. */
function watchedAnswer(path: string, host: Question["host"], answered: readonly string[]): Answer {
  try {
    return { watched: readWatched(path, host, answered) };
  } catch (error) {
    if (error instanceof UnansweredError) return { unanswered: error.path };
    return { unreadable: (error as Error).message };
  }
}
