import * as host from "../host/index.ts";
import { holders, isDirectoryOf, LOCK_MS } from "./store.ts";

/**
 * The lock once more, which `fd` has let go. False: the container has been removed meanwhile, and the id may be another one's.
 * @throws RuntError id-locked
 */
export function lockAgain(fd: number, directory: string): boolean {
  const taken = host.flock(fd, host.LOCK.EX, LOCK_MS);
  if (!isDirectoryOf(fd, directory)) return false;
  if (!taken) throw holders().locked(directory, LOCK_MS);
  return true;
}
