/** The thread that parses files of clients. The daemon may end it at any moment, for example because a file takes too long. */
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
