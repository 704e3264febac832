/** Makes a root file system that contains one file. Its name is a hash of the file, so that a newer program gets a directory of its own while older ones still run. */
import { createHash } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Path of the program inside the root file system. */
export const PAUSE_PROGRAM = "/pause";

/**
 * @param directory parent of the root file systems of all versions; created if missing
 * @param program path of the program, which is copied so that containers cannot reach the host's file
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
    // Everyone must be able to execute it, whatever the umask of this process.
    for (const path of [file, join(making, "root")]) chmodSync(path, 0o755);
    renameSync(join(making, "root"), root);
  } catch (error) {
    // Another process has made it first.
    if (!existsSync(root)) throw error;
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
  return root;
}
