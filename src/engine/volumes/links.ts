/** Which symbolic links on the way to a file of the host are followed. */
import type { Stats } from "node:fs";

/** As the kernel (path_resolution(7)). */
export const MOST_LINKS = 40;
/** Write permission of the group, which is also set for an access control list that lets others write, and of others. */
const OTHERS_WRITE = 0o022;

export interface FollowedLinks {
  /** Links that are directly in these directories. */
  readonly directories: readonly string[];
  /** Links at any depth below these directories. */
  readonly trees: readonly string[];
  /** Directories in `trees` that do not count. */
  readonly except: readonly string[];
}

/**
 * Root of a container without users of its own is root of the host, too: owner and mode do not tell a link of the administrator from one that a container has made in a
 * directory that is mounted in it. So links are followed only where whoever can write has the host already: a container with one of these directories can replace
 * accounts, programs, libraries or sockets of the system. /srv, /opt, /home, /mnt and directories below /etc or /var are given to containers every day, and are not here.
 */
export const OF_SYSTEM: FollowedLinks = {
  directories: ["/", "/dev", "/etc", "/etc/alternatives", "/etc/ssl", "/root", "/run", "/var", "/var/lib"],
  trees: ["/usr"],
  except: ["/usr/local"],
};

/** @param directory absolute, without links */
export function holdsFollowed({ directories, trees, except }: FollowedLinks, directory: string): boolean {
  const isIn = (tree: string) => directory === tree || directory.startsWith(`${tree}/`);
  return directories.includes(directory) || (trees.some(isIn) && !except.some(isIn));
}

/** Whether only root and the user of the daemon can change entries of a directory. */
export function isOwn({ uid, mode }: Stats): boolean {
  return isOfOwner(uid) && (mode & OTHERS_WRITE) === 0;
}

/** Whether a file belongs to root or to the user of the daemon. A link has no mode of its own. */
export function isOfOwner(uid: number): boolean {
  return uid === 0 || uid === process.geteuid!();
}
