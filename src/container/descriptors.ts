/** Descriptors that the caller hands through to the container. */
import { RuntError } from "../errors/index.ts";
import * as host from "../host/index.ts";

const FIRST = 3;

/** LISTEN_FDS counts only when LISTEN_PID is this process (sd_listen_fds(3)). */
export function countListenFds(): number {
  const count = Number(host.getenv("LISTEN_FDS") ?? 0);
  if (!Number.isSafeInteger(count) || count <= 0 || host.getenv("LISTEN_PID") !== String(host.getpid())) return 0;
  return count;
}

/**
 * Check that the preserved descriptors exist, and make every other one of the caller's stay behind: a waiting init must not hold it.
 * To be called before anything is opened: a descriptor of our own would otherwise pass for a preserved one.
 */
export function separateDescriptors(count: number): void {
  const end = FIRST + countListenFds() + count;
  host.closeOnExecFrom(end);
  for (let fd = end - count; fd < end; fd++) {
    if (!host.fdIsOpen(fd)) throw new RuntError("usage", `unable to stat preserved-fd ${fd}: bad file descriptor`);
  }
}
