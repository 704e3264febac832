import * as host from "../host/index.ts";
import { walk } from "../host/index.ts";

/**
 * Remove a directory of a container's state and all in it. A privileged container may have written to it, and may still do so, so
 * nothing is reached by a path that it could change: a link instead of a directory is removed, and not followed.
 */
export function removeTree(path: string): void {
  let failure: unknown;
  walk(path, {
    enter({ path: directory }) {
      removeFiles(directory);
      return true;
    },
    left: (directory) => {
      try {
        host.rmdir(directory);
      } catch (error) {
        failure ??= error;
      }
    },
    missed: (_, error) => {
      failure ??= error;
    },
  });
  try {
    host.rmdir(path);
  } catch (error) {
    throw failure ?? error;
  }
}

function removeFiles(directory: string): void {
  for (const name of host.readdir(directory)) {
    const path = `${directory}/${name}`;
    if ((host.lstat(path)?.mode ?? 0) >> 12 !== 4) host.unlink(path);
  }
}
