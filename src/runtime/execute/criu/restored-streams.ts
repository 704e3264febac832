/** The standard streams of a restored container: pipes are this process's; a file or device of the host has another one in its place. */
import { type InheritedDescriptor, OPEN_FILES, openFileModes, type Recorded, recordedStreams, streamKey } from "../../criu/index.ts";
import { RuntError } from "../../errors/index.ts";
import * as host from "../../host/index.ts";
import { streamsOf } from "../streams.ts";
import { DESCRIPTORS } from "./image.ts";

const NULL = "/dev/null";
/** Major number of null, zero, full and the like, which take what they are given at any position. */
const MEMORY_DEVICES = 1;
const LIMIT = 64 << 20;

export interface RestoredStreams {
  readonly inherit: readonly InheritedDescriptor[];
  /** As the record has them. */
  readonly names: readonly string[];
  readonly warnings: readonly string[];
}

/** The descriptors in `inherit` that are above 2 are the caller's to close. @throws RuntError criu */
export function restoredStreams(imagePath: string): RestoredStreams {
  const keys = recordedKeys(`${imagePath}/${DESCRIPTORS}`);
  const names = [...streamsOf("self", () => false)];
  const recorded = recordedStreams(keys);
  const modes = recorded.some(({ isFile }) => isFile) ? modesOf(`${imagePath}/${OPEN_FILES}`) : undefined;
  const warnings: string[] = [];
  const inherit = recorded.map((stream) => {
    const { key, number, isFile } = stream;
    if (!isFile || mayReplace(stream, modes?.get(key) ?? 0)) return { key, fd: number };
    const fd = host.open(NULL, host.O.RDWR);
    keys.forEach((name, index) => {
      if (name === key) names[index] = nameOf(fd);
    });
    if (modes?.has(key) && typeOf(modes.get(key)!) !== host.S.IFCHR)
      warnings.push(`standard stream ${number} was a file of the host, and here it is none: the container gets /dev/null`);
    return { key, fd };
  });
  return { inherit, names, warnings };
}

function recordedKeys(path: string): string[] {
  try {
    const keys: unknown = JSON.parse(host.readFile(path));
    if (!Array.isArray(keys)) throw new RuntError("criu", `${path}: not a list`);
    return keys.slice(0, 3).map(String);
  } catch (error) {
    if (error instanceof RuntError) throw error;
    throw new RuntError("criu", `${path}: ${error instanceof SyntaxError ? "not JSON" : host.reason(error)}`, {
      hint: "--image-path names the directory of a checkpoint",
      cause: error,
    });
  }
}

function modesOf(path: string): ReadonlyMap<string, number> | undefined {
  try {
    return openFileModes(new Uint8Array(host.readBytes(path, LIMIT)));
  } catch (error) {
    // criu before 3.1 has no such file. What is wrong with it criu says itself.
    if (error instanceof RangeError || host.isErrno(error, "ENOENT")) return undefined;
    throw new RuntError("criu", `${path}: ${host.reason(error)}`, { cause: error });
  }
}

/** criu restores the position, which pipes, sockets and terminals do not have. `mode`: of the file at the dump; 0: of no importance, or not known. */
function mayReplace({ number }: Recorded, mode: number): boolean {
  const own = fileAt(number);
  if (own === undefined) return false;
  const type = typeOf(own.mode);
  const isDevice = type === host.S.IFCHR && own.rdevMajor === MEMORY_DEVICES;
  return typeOf(mode) === host.S.IFCHR ? isDevice : isDevice || type === host.S.IFREG;
}

function fileAt(fd: number): host.Stat | undefined {
  try {
    return host.fstat(fd);
  } catch (error) {
    if (host.isErrno(error, "EBADF")) return undefined;
    throw error;
  }
}

function typeOf(mode: number): number {
  return mode & host.S.IFMT;
}

function nameOf(fd: number): string {
  const mountId = Number(/^mnt_id:\s*(\d+)/m.exec(host.readFile(`/proc/self/fdinfo/${fd}`, undefined, true))?.[1]);
  return streamKey({ link: NULL, mountId, inode: host.fstat(fd).ino, inside: false });
}
