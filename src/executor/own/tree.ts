/** Removes directories of this program's with all that is in them. Links are removed themselves, and nothing is removed of what is mounted there. */
import { rmSync } from "node:fs";
import { mountsIn } from "../../node/index.ts";
import { ExecutorError } from "../errors.ts";

/** Succeeds if it does not exist. @throws ExecutorError stuck: something is mounted there; the errors of the system calls */
export function removeOwnTree(path: string): void {
  refuseMounts(path);
  rmSync(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 20 });
}

/** To be called before what is in a directory is removed: whoever has mounted something there would lose its content. @throws ExecutorError stuck */
export function refuseMounts(path: string): void {
  const [mount] = mountsIn(path);
  if (mount !== undefined) throw new ExecutorError("stuck", `something is mounted at ${mount}, so that ${path} is not removed`, { mount });
}
