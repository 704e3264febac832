/** Checks the source of a mount before it is passed to the runtime. */
import { closeSync, constants, fstatSync, openSync, realpathSync, type Stats } from "node:fs";

/** open(2): a place, without opening what is there; Node does not name it. The number is that of x86-64 and arm64. */
const O_PATH = 0o10_000_000;
const { O_NOFOLLOW } = constants;

export type SourceType = "Directory" | "File" | "Socket";

const IS: Readonly<Record<SourceType, (stats: Stats) => boolean>> = {
  Directory: (stats) => stats.isDirectory(),
  File: (stats) => stats.isFile(),
  Socket: (stats) => stats.isSocket(),
};

/**
 * It is there, and no part of its path is a symbolic link: a container that may write to a directory could put one there, and the next container would
 * get what it leads to on the host. The runtime opens the path anew in its own mount namespace, and is told not to follow its last part either.
 * @param path absolute. @param type what it has to be. @throws Error, which names the part that is missing, a link, or something else
 */
export function checkSource(path: string, type?: SourceType): void {
  closeSync(openSource(path, type));
}

/** The same, and a descriptor of it (O_PATH), for the caller to close. @param onPart is called with a descriptor of each part of the way, from / on */
export function openSource(path: string, type?: SourceType, onPart: (fd: number) => void = () => {}): number {
  let fd = openSync("/", O_PATH);
  let name = "";
  try {
    onPart(fd);
    for (const part of path.split("/").filter(Boolean)) {
      if (part === "..") throw new Error(`${path} has .. in it`);
      name += `/${part}`;
      const next = openPart(fd, part, name);
      closeSync(fd);
      fd = next;
      if (fstatSync(fd).isSymbolicLink()) throw new Error(`${name} is a symbolic link${leadsTo(path)}: it is not followed`);
      onPart(fd);
    }
    if (type !== undefined && !IS[type](fstatSync(fd))) throw new Error(`${path} is no ${type.toLowerCase()}`);
    return fd;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

function openPart(directory: number, part: string, name: string): number {
  try {
    return openSync(`/proc/self/fd/${directory}/${part}`, O_PATH | O_NOFOLLOW);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const reason = { ENOENT: "is not there", ENOTDIR: "is below what is no directory" }[code ?? ""] ?? `cannot be opened: ${code}`;
    throw new Error(`${name} ${reason}`, { cause: error });
  }
}

/** For who has written the path: what to write instead. */
function leadsTo(path: string): string {
  try {
    return ` (${path} leads to ${realpathSync(path)})`;
  } catch {
    return "";
  }
}
