/** Volumes whose files are given in the task file. */
import { lchownSync } from "node:fs";
import { join } from "node:path";
import { writeOwnFile } from "../../node/index.ts";
import { makeOwnDirectory } from "../own/index.ts";

export interface VolumeFile {
  readonly content: string;
  readonly encoding: "utf8" | "base64";
  /** Permission bits. */
  readonly mode: number;
  readonly uid?: number | undefined;
  readonly gid?: number | undefined;
}

/** Mode of directories: everyone may list them, and the modes of the files protect their contents. */
const DIRECTORY_MODE = 0o755;

const GROUP_READS = 0o040;

/**
 * May be repeated until a container runs that could have changed the files.
 * @param files by their paths below `path`, which contain no ".."
 * @param group group that may read all files, whatever their modes; undefined: the files belong to root's group.
 * @throws the errors of the system calls
 */
export function makeFiles(path: string, files: Readonly<Record<string, VolumeFile>>, group?: number): void {
  makeDirectory(path);
  for (const [name, { content, encoding, mode, uid = 0, gid = group ?? 0 }] of Object.entries(files)) {
    const parts = name.split("/").slice(0, -1);
    for (const [index] of parts.entries()) makeDirectory(join(path, ...parts.slice(0, index + 1)));
    const file = join(path, name);
    writeOwnFile(file, Buffer.from(content, encoding), group === undefined ? mode : mode | GROUP_READS);
    if (uid !== 0 || gid !== 0) lchownSync(file, uid, gid);
  }
}

function makeDirectory(path: string): void {
  makeOwnDirectory(path, { mode: DIRECTORY_MODE });
}
