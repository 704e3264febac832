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
  /** Single links, and the only text with which each is followed. */
  readonly known: Readonly<Record<string, string>>;
}

/**
 * Root of a container without users of its own is root of the host, too: owner and mode do not tell a link of the administrator from one that a container has made in a
 * directory that is mounted in it. So links are followed only where whoever can write has the host already: a container with one of these directories can replace
 * accounts, programs, libraries or sockets of the system. Others, such as /srv, /usr/share/nginx, /etc/ssl or /dev, are given to containers every day, and are not here.
 */
export const OF_SYSTEM: FollowedLinks = {
  directories: ["/", "/etc", "/etc/alternatives", "/root", "/run", "/usr", "/usr/lib", "/var", "/var/lib"],
  trees: ["/usr/bin", "/usr/sbin", "/usr/lib64", "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/share/zoneinfo"],
  // systemd makes it. A container that has /dev may replace it, so that it is followed only to the journal.
  known: { "/dev/log": "/run/systemd/journal/dev-log" },
};

/** Whether a link with this text is followed. @param directory absolute, without links */
export function holdsFollowed({ directories, trees, known }: FollowedLinks, directory: string, name: string, text: string): boolean {
  const isIn = (tree: string) => directory === tree || directory.startsWith(`${tree}/`);
  const path = `${directory === "/" ? "" : directory}/${name}`;
  return directories.includes(directory) || trees.some(isIn) || (Object.hasOwn(known, path) && known[path] === text);
}

/** Whether only root and the user of the daemon can change entries of a directory. */
export function isOwn({ uid, mode }: Stats): boolean {
  return isOfOwner(uid) && (mode & OTHERS_WRITE) === 0;
}

/** Whether a file belongs to root or to the user of the daemon. A link has no mode of its own. */
export function isOfOwner(uid: number): boolean {
  return uid === 0 || uid === process.geteuid!();
}
