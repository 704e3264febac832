/** Checks the source of a mount before it is passed to the runtime. */
import { chmodSync, closeSync, constants, fstatSync, mkdirSync, openSync, readlinkSync, realpathSync, type Stats } from "node:fs";
import { type FollowedLinks, holdsFollowed, isOfOwner, isOwn, MOST_LINKS } from "./links.ts";

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
  /** The first part of the path, in which these links are followed. Absent: no link is followed. */
  readonly follow?: { readonly upTo: string; readonly links: FollowedLinks };
}

export interface Source {
  /** O_PATH. The caller closes it. */
  readonly fd: number;
  /** The path of the file, without links. */
  readonly path: string;
}

/**
 * Opens a source, one component after the other. A container that can write to a directory could place a symbolic link there, and the next container would get its
 * target on the host: so only links of the system are followed (links.ts). The runtime opens the path that is returned again in its own mount namespace, follows no link at its end, and
 * compares device and inode.
 * @param path absolute. @param type the required type. @throws Error that names the component that is missing, a link, or of another type
 */
export function openSource(path: string, type?: SourceType, opening: Opening = {}): Source {
  const walk = new Walk(path, type, opening);
  try {
    const found = walk.end();
    if (type !== undefined && !IS[type][1](fstatSync(found.fd))) throw new Error(`${path} is not a ${IS[type][0]}`);
    return found;
  } catch (error) {
    walk.close();
    throw error;
  }
}

interface Step {
  readonly part: string;
  /** Whether it is of the path itself, and not of a link's text. */
  readonly isAsked: boolean;
  readonly isFollowed: boolean;
}

/** The way from / to a source. The last component that was opened is held by a descriptor. */
class Walk {
  readonly #asked: string;
  readonly #type: SourceType | undefined;
  readonly #opening: Opening;
  #steps: Step[];
  #fd: number;
  /** Names of the directories from / to the one that is held, and whether only root can have changed an entry on the way to it. */
  #way: { readonly name: string; readonly isOwn: boolean }[] = [];
  #links = 0;

  constructor(path: string, type: SourceType | undefined, opening: Opening) {
    this.#asked = path;
    this.#type = type;
    this.#opening = opening;
    const most = opening.follow?.upTo.split("/").filter(Boolean).length ?? 0;
    const parts = path.split("/").filter(Boolean);
    this.#steps = parts.map((part, index) => ({ part, isAsked: true, isFollowed: index < most }));
    this.#fd = openSync("/", O_PATH);
  }

  /** @throws as openSource */
  end(): Source {
    this.#opening.onPart?.(this.#fd);
    for (let step = this.#steps.shift(); step !== undefined; step = this.#steps.shift()) this.#go(step);
    return { fd: this.#fd, path: this.#nameOf() };
  }

  close(): void {
    closeSync(this.#fd);
  }

  #nameOf(part?: string): string {
    return `/${[...this.#way.map(({ name }) => name), ...(part === undefined ? [] : [part])].join("/")}`;
  }

  #go(step: Step): void {
    const { part, isAsked } = step;
    if (part === "..") {
      if (isAsked) throw new Error(`${this.#asked} has .. in it`);
      // A link that is followed has it in its text. Others could move the directory while it is held, so that its parent is another one.
      if (!this.#isWayOwn())
        throw new Error(`${this.#asked} leads through ${this.#nameOf()}/.., and others than root can move that directory`);
      this.#hold(openSync(`/proc/self/fd/${this.#fd}/..`, O_PATH | O_NOFOLLOW));
      this.#way.pop();
      return;
    }
    const name = this.#nameOf(part);
    const mayMake = isAsked && (this.#opening.mayMake?.() ?? true);
    const next = openPart(this.#fd, part, name, mayMake ? madeAs(this.#type, this.#steps.length === 0) : undefined);
    const found = fstatSync(next);
    if (found.isSymbolicLink()) {
      closeSync(next);
      // Only root can replace the link between here and the next step, because nobody else can write to the directory.
      const text = textOf(`/proc/self/fd/${this.#fd}/${part}`, name);
      if (!this.#isFollowed(step, found, text)) throw new Error(`${name} is a symbolic link${leadsTo(this.#asked)}: it is not followed`);
      if (++this.#links > MOST_LINKS) throw new Error(`${this.#asked} leads through more than ${MOST_LINKS} symbolic links`);
      const steps = text.split("/").filter((one) => one !== "" && one !== ".");
      this.#steps.unshift(...steps.map((one) => ({ part: one, isAsked: false, isFollowed: true })));
      if (!text.startsWith("/")) return;
      this.#hold(openSync("/", O_PATH));
      this.#way = [];
      return;
    }
    const isWayOwn = this.#isWayOwn();
    this.#hold(next);
    this.#way.push({ name: part, isOwn: isWayOwn && isOwn(found) });
    this.#opening.onPart?.(next);
  }

  #hold(fd: number): void {
    closeSync(this.#fd);
    this.#fd = fd;
  }

  #isWayOwn(): boolean {
    return this.#way.at(-1)?.isOwn ?? isOwn(fstatSync(this.#fd));
  }

  #isFollowed({ part, isFollowed }: Step, { uid }: Stats, text: string): boolean {
    const { follow } = this.#opening;
    if (!isFollowed || follow === undefined) return false;
    return isOfOwner(uid) && this.#isWayOwn() && holdsFollowed(follow.links, this.#nameOf(), part, text);
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

/** @throws Error: it is no link any more */
function textOf(link: string, name: string): string {
  try {
    return readlinkSync(link);
  } catch {
    throw new Error(`${name} was replaced while the way through it was opened`);
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
