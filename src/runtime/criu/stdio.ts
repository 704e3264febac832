/** Standard streams that lead out of the container: pipes and files of the caller. Pure. */
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
  return [...new Set(keys.filter(isFileKey))];
}

/** The list is part of the image: nothing else than these two is taken from it. */
const PIPE = /^pipe:\[\d+\]$/;
const FILE = /^file\[[0-9a-f]+:[0-9a-f]+\]$/;

export const isFileKey = (key: string): boolean => FILE.test(key);

/** A stream that a restore has to give. */
export interface Recorded {
  readonly key: string;
  /** The first descriptor that was open at it. */
  readonly number: number;
  readonly isFile: boolean;
}

/** Two names of one stream are one. */
export function recordedStreams(keys: readonly string[]): Recorded[] {
  return keys
    .map((key, number) => ({ key, number, isFile: FILE.test(key) }))
    .filter(({ key, isFile }, index) => (isFile || PIPE.test(key)) && keys.indexOf(key) === index);
}
