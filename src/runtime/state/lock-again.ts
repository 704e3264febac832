import * as host from "../host/index.ts";
import { locked } from "./holders.ts";
import { isDirectoryOf, LOCK_MS } from "./store.ts";

/**
 * Takes the lock again that `fd` has released. False: the container was removed meanwhile, and the id may belong to another one.
 * @throws RuntError id-locked
 */
export function lockAgain(fd: number, directory: string): boolean {
  const taken = host.flock(fd, host.LOCK.EX, LOCK_MS);
  if (!isDirectoryOf(fd, directory)) return false;
  if (!taken) throw locked(directory, LOCK_MS);
  return true;
}
