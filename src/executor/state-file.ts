/** Reads a file of an executor's state, which may be gone, or have something else in its place. */
import { ExecutorError } from "./errors.ts";
import { readOwnFile } from "./own/file.ts";

/** Errors that say what is at the path. Others, such as EMFILE, say nothing about the file, which must not count as lost. */
const DAMAGE = ["ENODEV", "ENOTDIR", "ENXIO"];

/** undefined: there is no such file. @throws ExecutorError state-unreadable: what is there is no file of ours; the other errors of open(2) and read(2) */
export function readStateFile(path: string): string | undefined {
  try {
    return readOwnFile(path).toString();
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return undefined;
    if (DAMAGE.includes(code)) throw new ExecutorError("state-unreadable", `${path}: ${code}`, { path }, error);
    throw error;
  }
}
