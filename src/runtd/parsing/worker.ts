/** The thread that parses files of clients. It may be ended at any moment: the daemon waits for it no longer than for any other thing that others can hold up. */
import { parentPort } from "node:worker_threads";
import { parseClusterPod, parseFile } from "../../pod/index.ts";
import type { Answer, Question } from "./files.ts";

parentPort!.on("message", ({ host, ...asked }: Question) => {
  const answer = (): Answer => {
    try {
      return { parsed: "text" in asked ? parseFile(asked.text, host) : parseClusterPod(asked.pod, host, asked.rules) };
    } catch (error) {
      return { failure: error instanceof Error ? (error.stack ?? error.message) : String(error) };
    }
  };
  parentPort!.postMessage(answer());
});
