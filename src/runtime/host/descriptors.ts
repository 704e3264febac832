/** Descriptors that the caller hands through to the container. */
import * as host from "./system.ts";

const FIRST = 3;

/** LISTEN_FDS counts only when LISTEN_PID is this process (sd_listen_fds(3)). */
export function countListenFds(): number {
  const count = Number(host.getenv("LISTEN_FDS") ?? 0);
  if (!Number.isSafeInteger(count) || count <= 0 || host.getenv("LISTEN_PID") !== String(host.getpid())) return 0;
  return count;
}

/**
 * Make every descriptor of the caller's that is not to be handed on stay behind: a waiting init must not hold it. A number among the preserved
 * ones that is not open is passed over, as with crun: `podman run --preserve-fd=9,40` comes as `--preserve-fds 38`. What runt or the helper
 * opens under such a number is close-on-exec, as all that they open.
 */
export function separateDescriptors(count: number): void {
  host.closeOnExecFrom(FIRST + countListenFds() + count);
}
