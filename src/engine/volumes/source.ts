/** The source of a mount: looked at before it is handed to the runtime. */
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
  let fd = openSync("/", O_PATH);
  let name = "";
  try {
    for (const part of path.split("/").filter(Boolean)) {
      name += `/${part}`;
      const next = openPart(fd, part, name);
      closeSync(fd);
      fd = next;
      if (fstatSync(fd).isSymbolicLink()) throw new Error(`${name} is a symbolic link${leadsTo(path)}: it is not followed`);
    }
    if (type !== undefined && !IS[type](fstatSync(fd))) throw new Error(`${path} is no ${type.toLowerCase()}`);
  } finally {
    closeSync(fd);
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
