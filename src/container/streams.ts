/** Standard streams under the names by which a checkpoint finds them again. */
import { streamKey } from "../criu/stdio.ts";
import * as host from "../host/index.ts";

/** Of a process ("self", or a pid). `isInside` tells whether a mount is one that the container has. */
export function streamsOf(process: string, isInside: (mountId: number) => boolean): readonly string[] {
  return [0, 1, 2].map((fd) => streamOf(`/proc/${process}`, fd, isInside));
}

/** What this process hands to a container; undefined: a terminal of the container's own. */
export function callerStreams(terminal: unknown): readonly string[] | undefined {
  return terminal === true ? undefined : streamsOf("self", () => false);
}

function streamOf(process: string, fd: number, isInside: (mountId: number) => boolean): string {
  const path = `${process}/fd/${fd}`;
  try {
    const link = host.readlink(path);
    // Pipes and the like: the name says it all.
    if (!link.startsWith("/")) return link;
    const { mountId, inode } = host.openFile(path);
    return streamKey({ link, mountId, inode, inside: isInside(mountId) });
  } catch (error) {
    // The program may have closed it.
    if (host.isErrno(error, "ENOENT")) return "";
    throw error;
  }
}
