import * as host from "../../host/index.ts";

/** A file of the tree that may go away at any time: undefined then. */
export function readIfThere(path: string): string | undefined {
  try {
    return host.readFile(path, undefined, true);
  } catch (error) {
    if (host.isErrno(error, "ENOENT", "ENOTDIR", "ENODEV")) return undefined;
    throw error;
  }
}

/** Whether there are cgroups below: most have none, and the link count says so without reading the directory. */
export function hasChildren(directory: string): boolean {
  return (host.stat(directory)?.nlink ?? 0) > 2;
}

/** "" above the root. */
export function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/"));
}
