import * as host from "../host/index.ts";

/**
 * Remove a directory of a container's state and all in it. A privileged container may have written to it, and may still do so, so
 * nothing is reached by a path that it could change: a link instead of a directory is removed, and not followed.
 */
export function removeTree(path: string): void {
  const fd = host.open(path, host.O.RDONLY | host.O.DIRECTORY | host.O.NOFOLLOW);
  try {
    const held = `/proc/self/fd/${fd}`;
    for (const name of host.readdir(held)) {
      const below = `${held}/${name}`;
      if ((host.lstat(below)?.mode ?? 0) >> 12 === 4) removeTree(below);
      else host.unlink(below);
    }
  } finally {
    host.close(fd);
  }
  host.rmdir(path);
}
