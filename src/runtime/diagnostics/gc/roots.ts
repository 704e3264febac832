/** Whether a cgroup belongs to a container of this state root: by which directory that is, since a path is another one in another mount namespace. */
import { type ContainerMark, isSameRoot } from "../../cgroup/index.ts";
import * as host from "../../host/index.ts";
import { markedAt, rootDirectory } from "../../state/index.ts";

export function isOfRoot(mark: ContainerMark, root: string): boolean {
  // A build that did not record the directory.
  if (mark.directory === undefined) return isSameRoot(mark.root, root);
  const here = rootDirectory(root);
  if (here !== undefined && mark.directory === here) return true;
  if (mark.root !== root) return false;
  return here === undefined ? isDeviceOf(mark.directory, root) : wasMadeAnew(mark, root);
}

/** The directory is gone: it was on the file system on which it would be made now, or in another mount namespace. */
function isDeviceOf(directory: string, root: string): boolean {
  for (let path = root; ; path = path.slice(0, path.lastIndexOf("/"))) {
    const found = host.stat(path === "" ? "/" : path);
    if (found) return directory.startsWith(`${found.dev}:`);
  }
}

/** Removed and made again: the directory of now is younger than the container. Otherwise both were there at once, each in a mount namespace of its own. */
function wasMadeAnew({ directory, created }: ContainerMark, root: string): boolean {
  const made = markedAt(root);
  return created !== undefined && made !== undefined && made > created && isDeviceOf(directory!, root);
}
