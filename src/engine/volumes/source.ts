/** Checks the source of a mount before it is passed to the runtime. */
import { chmodSync, closeSync, constants, fstatSync, mkdirSync, openSync, realpathSync, type Stats } from "node:fs";

/** Flag of open(2), which Node does not export. The number is that of x86-64 and arm64. */
export const O_PATH = 0o10_000_000;
const { O_CREAT, O_EXCL, O_NOFOLLOW } = constants;

export type SourceType = "Directory" | "DirectoryOrCreate" | "File" | "FileOrCreate" | "Socket" | "CharDevice" | "BlockDevice";

const IS: Readonly<Record<SourceType, readonly [name: string, is: (stats: Stats) => boolean]>> = {
  Directory: ["directory", (stats) => stats.isDirectory()],
  DirectoryOrCreate: ["directory", (stats) => stats.isDirectory()],
  File: ["file", (stats) => stats.isFile()],
  FileOrCreate: ["file", (stats) => stats.isFile()],
  Socket: ["socket", (stats) => stats.isSocket()],
  CharDevice: ["character device", (stats) => stats.isCharacterDevice()],
  BlockDevice: ["block device", (stats) => stats.isBlockDevice()],
};

/** Modes of what is made, before the umask. Source: Kubernetes, HostPathType. */
const DIRECTORY_MODE = 0o755;
const FILE_MODE = 0o644;
/** Of a mode: rights, set-ID and sticky bits. */
const ALL_BITS = 0o7777;

export interface Opening {
  /** Called with a descriptor of each component, starting with /. */
  readonly onPart?: (fd: number) => void;
  /** Whether a component that is missing may be made, if the type allows it. */
  readonly mayMake?: () => boolean;
}

/**
 * Opens a source as an O_PATH descriptor, which the caller closes. No component of its path is a symbolic link: a container that can write to a
 * directory could place a link there, and the next container would get its target on the host. The runtime opens the path again in its own mount namespace, and compares device and inode.
 * @param path absolute. @param type the required type. @throws Error that names the component that is missing, a link, or of another type
 */
export function openSource(path: string, type?: SourceType, { onPart = () => {}, mayMake = () => true }: Opening = {}): number {
  let fd = openSync("/", O_PATH);
  let name = "";
  try {
    onPart(fd);
    const parts = path.split("/").filter(Boolean);
    for (const [index, part] of parts.entries()) {
      if (part === "..") throw new Error(`${path} has .. in it`);
      name += `/${part}`;
      const next = openPart(fd, part, name, mayMake() ? madeAs(type, index === parts.length - 1) : undefined);
      closeSync(fd);
      fd = next;
      if (fstatSync(fd).isSymbolicLink()) throw new Error(`${name} is a symbolic link${leadsTo(path)}: it is not followed`);
      onPart(fd);
    }
    if (type !== undefined && !IS[type][1](fstatSync(fd))) throw new Error(`${path} is not a ${IS[type][0]}`);
    return fd;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

/**
 * Opens a directory of the engine, or a part of it, as an O_PATH descriptor, which the caller closes. The way to the directory is the engine's; below it no link is
 * followed. @param mayMake whether missing directories of `subPath` are made, with the mode of `directory`. @throws Error that names the component that is missing or a link
 */
export function openBelow(directory: string, subPath = "", mayMake = false): number {
  let fd = openPath(directory);
  let name = directory;
  const mode = mayMake ? fstatSync(fd).mode & ALL_BITS : undefined;
  try {
    for (const part of subPath.split("/").filter(Boolean)) {
      if (part === "..") throw new Error(`${subPath} has .. in it`);
      name += `/${part}`;
      const next = openPart(fd, part, name, mayMake ? "directory" : undefined, mode);
      closeSync(fd);
      fd = next;
      if (fstatSync(fd).isSymbolicLink()) throw new Error(`${name} is a symbolic link: it is not followed`);
    }
    return fd;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

/** @throws Error: it is missing, or a link has its place */
function openPath(path: string): number {
  const fd = openSync(path, O_PATH | O_NOFOLLOW);
  if (!fstatSync(fd).isSymbolicLink()) return fd;
  closeSync(fd);
  throw new Error(`${path} is a symbolic link: it is not followed`);
}

/** Kubernetes makes all directories of a path for DirectoryOrCreate, and nothing but the file for FileOrCreate. */
function madeAs(type: SourceType | undefined, isLast: boolean): "directory" | "file" | undefined {
  if (type === "DirectoryOrCreate") return "directory";
  return type === "FileOrCreate" && isLast ? "file" : undefined;
}

function openPart(directory: number, part: string, name: string, made: "directory" | "file" | undefined, mode?: number): number {
  const path = `/proc/self/fd/${directory}/${part}`;
  try {
    return openSync(path, O_PATH | O_NOFOLLOW);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" && made !== undefined) return makePart(path, made, mode);
    const reason =
      { ENOENT: "is not there", ENOTDIR: "is below something that is not a directory" }[code ?? ""] ?? `cannot be opened: ${code}`;
    // The error of the system call is no cause: its message has the path of the descriptor, which nobody has written.
    throw new Error(`${name} ${reason}`);
  }
}

/**
 * Another process may make it at the same time. On the host the mode is not set afterwards: by then the name may lead to a file of another user. With `mode` it is a
 * directory in a volume of the engine, where every name leads to the volume itself: no link is followed.
 */
function makePart(path: string, made: "directory" | "file", mode?: number): number {
  try {
    if (made === "directory") mkdirSync(path, DIRECTORY_MODE);
    else closeSync(openSync(path, O_CREAT | O_EXCL, FILE_MODE));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  const fd = openSync(path, O_PATH | O_NOFOLLOW);
  if (mode !== undefined && fstatSync(fd).isDirectory()) chmodSync(`/proc/self/fd/${fd}`, mode);
  return fd;
}

/** Tells the author of the path what to write instead. */
function leadsTo(path: string): string {
  try {
    return ` (${path} leads to ${realpathSync(path)})`;
  } catch {
    return "";
  }
}
