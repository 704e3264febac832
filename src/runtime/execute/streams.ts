/** Standard streams under the names by which a checkpoint finds them again. */
import { streamKey } from "../criu/index.ts";
import * as host from "../host/index.ts";

/** Of a process ("self", or a pid). `isInside` tells whether a mount is one that the container has. */
export function streamsOf(process: string, isInside: (mountId: number) => boolean): readonly string[] {
  return host.standardStreams(process).map((stream) => {
    // The program may have closed it.
    if (stream === undefined) return "";
    const { link, mountId, inode } = stream;
    // Pipes and the like: the name says it all.
    return mountId === undefined || inode === undefined ? link : streamKey({ link, mountId, inode, inside: isInside(mountId) });
  });
}

/** What this process hands to a container; undefined: a terminal of the container's own. */
export function callerStreams(terminal: unknown): readonly string[] | undefined {
  return terminal === true ? undefined : streamsOf("self", () => false);
}
