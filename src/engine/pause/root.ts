/** A root file system with one file. Its name is a hash of the file, so a newer program gets another directory, and running ones keep theirs. */
import { createHash } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Its path in there. */
export const PAUSE_PROGRAM = "/pause";

/**
 * @param directory where the root file systems of all its versions are; made if absent
 * @param program the file that is copied: the one on the host is not to be reached from a container
 * @returns path of the root file system
 */
export function makePauseRoot(directory: string, program: string): string {
  const content = readFileSync(program);
  const root = join(directory, createHash("sha256").update(content).digest("hex").slice(0, 16));
  if (existsSync(root)) return root;
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const making = mkdtempSync(join(directory, "making-"));
  const file = join(making, "root", PAUSE_PROGRAM);
  try {
    mkdirSync(join(making, "root"));
    writeFileSync(file, content);
    // Nobody runs it, whatever the umask of this process takes away.
    for (const path of [file, join(making, "root")]) chmodSync(path, 0o755);
    renameSync(join(making, "root"), root);
  } catch (error) {
    // Another process was faster.
    if (!existsSync(root)) throw error;
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
  return root;
}
