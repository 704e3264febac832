import * as host from "../../host/index.ts";

const S_IFMT = 0o170000;
const S_IFDIR = 0o040000;

/** A file of the tree that may go away at any time: undefined then. */
export function readIfThere(path: string): string | undefined {
  try {
    return host.readFile(path, undefined, true);
  } catch (error) {
    if (host.isErrno(error, "ENOENT", "ENOTDIR", "ENODEV")) return undefined;
    throw error;
  }
}

/** The directories directly below a cgroup; none when it is gone. */
export function children(directory: string): string[] {
  // Most cgroups have none, and the link count says so without reading the directory.
  if ((host.stat(directory)?.nlink ?? 0) <= 2) return [];
  let names: string[];
  try {
    names = host.readdir(directory);
  } catch (error) {
    if (host.isErrno(error, "ENOENT", "ENODEV")) return [];
    throw error;
  }
  return names.map((name) => `${directory}/${name}`).filter((path) => ((host.stat(path)?.mode ?? 0) & S_IFMT) === S_IFDIR);
}

/** "" above the root. */
export function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/"));
}
