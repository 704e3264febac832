/** Volumes with files that the task brings along. */
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export interface VolumeFile {
  readonly content: string;
  readonly encoding: "utf8" | "base64";
  /** Permission bits. */
  readonly mode: number;
}

/** Everybody may look into them; the files say who may read them. */
const DIRECTORY_MODE = 0o755;

/**
 * May be repeated: no container is there yet that could have changed anything.
 * @param files by their paths below `path`, none of which has "..". Errors are those of the system calls.
 */
export function makeFiles(path: string, files: Readonly<Record<string, VolumeFile>>): void {
  makeDirectory(path);
  for (const [name, { content, encoding, mode }] of Object.entries(files)) {
    const parts = name.split("/").slice(0, -1);
    for (const [index] of parts.entries()) makeDirectory(join(path, ...parts.slice(0, index + 1)));
    const file = join(path, name);
    writeFileSync(file, Buffer.from(content, encoding));
    // Whatever the umask of this process takes away.
    chmodSync(file, mode);
  }
}

function makeDirectory(path: string): void {
  mkdirSync(path, { recursive: true });
  chmodSync(path, DIRECTORY_MODE);
}
