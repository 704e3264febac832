/** Scratch volumes: directories of the engine that containers may write to. */
import { chmodSync, chownSync, constants, mkdirSync } from "node:fs";
import { open, opendir, rename, rmdir, unlink } from "node:fs/promises";

const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = constants;
/** Any user of any container of the task. Nobody else gets there: the directories above are the engine's own. */
const MODE = 0o777;

/** What is made in it has its group, too. */
const SETGID = 0o2000;

/** May be repeated. @param group whose it is; undefined: root's. Errors are those of the system calls. */
export function makeScratch(path: string, group?: number): void {
  mkdirSync(path, { recursive: true });
  giveScratch(path, group);
}

/** The directory itself, whatever is mounted there. */
export function giveScratch(path: string, group: number | undefined): void {
  if (group !== undefined) chownSync(path, 0, group);
  // Whatever the umask of this process takes away. After chown(2), which may take setgid away.
  chmodSync(path, group === undefined ? MODE : MODE | SETGID);
}

/**
 * Remove it with all that is in it. Containers have chosen the names: they may be no text, lie deeper than a path can be long, and be links to anywhere. So
 * each directory is opened by its parent's descriptor, and what is below it is moved up to the top before it goes.
 * What is gone is removed. Errors are those of the system calls.
 */
export async function removeScratch(path: string): Promise<void> {
  const top = await openDirectory(path);
  if (top === undefined) return;
  try {
    const moved = new Names();
    for (let isEmpty = false; !isEmpty; ) {
      isEmpty = true;
      for await (const { name } of await list(top.fd)) {
        isEmpty = false;
        await removeEntry(below(top.fd, name), top.fd, moved);
      }
    }
  } finally {
    await top.close();
  }
  await rmdir(path);
}

/** Names that no file of a container has by chance. */
class Names {
  readonly #prefix = `${process.pid}-${process.hrtime.bigint()}-`;
  #count = 0;

  next(): Buffer {
    return Buffer.from(this.#prefix + this.#count++);
  }
}

async function removeEntry(path: Buffer, top: number, moved: Names): Promise<void> {
  if (await tryUnlink(path)) return;
  const directory = await openDirectory(path);
  if (directory === undefined) return;
  try {
    for await (const { name } of await list(directory.fd)) {
      const entry = below(directory.fd, name);
      if (!(await tryUnlink(entry))) await rename(entry, below(top, moved.next()));
    }
  } finally {
    await directory.close();
  }
  // What was moved in meanwhile, of a listing that had begun before, is seen with the next pass.
  await rmdir(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOTEMPTY") throw error;
  });
}

/** False when it is a directory. */
async function tryUnlink(path: Buffer): Promise<boolean> {
  try {
    await unlink(path);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return true;
    if (code === "EISDIR") return false;
    throw error;
  }
}

/** undefined when it is gone. */
async function openDirectory(path: string | Buffer) {
  try {
    return await open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

async function list(fd: number) {
  // The types of Node know no listing by bytes.
  return (await opendir(`/proc/self/fd/${fd}`, { encoding: "buffer" as BufferEncoding })) as unknown as AsyncIterable<{
    readonly name: Buffer;
  }>;
}

function below(fd: number, name: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`/proc/self/fd/${fd}/`), name]);
}
