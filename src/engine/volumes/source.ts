/** Checks the source of a mount before it is passed to the runtime. */
import { closeSync, constants, fstatSync, openSync, realpathSync, type Stats } from "node:fs";

/** Flag of open(2), which Node does not export. The number is that of x86-64 and arm64. */
const O_PATH = 0o10_000_000;
const { O_NOFOLLOW } = constants;

export type SourceType = "Directory" | "File" | "Socket";

const IS: Readonly<Record<SourceType, (stats: Stats) => boolean>> = {
  Directory: (stats) => stats.isDirectory(),
  File: (stats) => stats.isFile(),
  Socket: (stats) => stats.isSocket(),
};

/**
 * Checks that the source exists and that no component of its path is a symbolic link. A container that can write to a directory could place a link there, and the
 * next container would get its target on the host. The runtime opens the path again in its own mount namespace, and does not follow its last component.
 * @param path absolute. @param type the required type. @throws Error that names the component that is missing, a link, or of another type
 */
export function checkSource(path: string, type?: SourceType): void {
  closeSync(openSource(path, type));
}

/** Like checkSource, but returns an O_PATH descriptor, which the caller closes. @param onPart called with a descriptor of each component, starting with / */
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
    // The error of the system call is no cause: its message has the path of the descriptor, which nobody has written.
    throw new Error(`${name} ${reason}`);
  }
}

/** Tells the author of the path what to write instead. */
function leadsTo(path: string): string {
  try {
    return ` (${path} leads to ${realpathSync(path)})`;
  } catch {
    return "";
  }
}
