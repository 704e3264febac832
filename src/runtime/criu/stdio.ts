/** Standard streams that lead out of the container: pipes and files of the caller. Pure. */
import type { InheritedDescriptor } from "./messages.ts";

/** A descriptor 0, 1 or 2 of the container's process. */
export interface Stream {
  /** The link /proc/PID/fd/N. */
  readonly link: string;
  /** From /proc/PID/fdinfo/N. */
  readonly mountId: number;
  readonly inode: bigint;
  /** Whether it is open in a mount that the container has. */
  readonly inside: boolean;
}

/**
 * What criu calls it. A pipe goes by its link, without being announced as external; an open file that no mount of the container shows goes
 * by mount and inode; for everything else (terminals, files inside) the link is only kept for the record, as runc keeps it.
 */
export function streamKey({ link, mountId, inode, inside }: Stream): string {
  return isOutsideFile(link, inside) ? `file[${mountId.toString(16)}:${inode.toString(16)}]` : link;
}

function isOutsideFile(link: string, inside: boolean): boolean {
  return link.startsWith("/") && !link.startsWith("/dev/pts/") && !inside;
}

/** What a dump has to announce. */
export function externalFiles(keys: readonly string[]): string[] {
  return [...new Set(keys.filter((key) => key.startsWith("file[")))];
}

/** The list is part of the image: nothing else than these two is taken from it. */
const INHERITED = /^(?:pipe:\[\d+\]|file\[[0-9a-f]+:[0-9a-f]+\])$/;

/** For a restore: descriptor N of the restoring process takes the place of the container's N. Two names of one stream are one. */
export function inheritedStreams(keys: readonly string[]): InheritedDescriptor[] {
  return keys.map((key, fd) => ({ key, fd })).filter(({ key }, index) => INHERITED.test(key) && keys.indexOf(key) === index);
}
