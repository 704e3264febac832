/** Modes of what is given to others: they do not depend on the umask under which a clone or a package was unpacked. */
import { chmodSync, lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";

const OWNER_MAY_EXECUTE = 0o100;

/** Everyone may read all files below a directory, and execute those that the owner may execute. Links are left alone. */
export function setPublishedModes(directory: string): void {
  chmodSync(directory, 0o755);
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isDirectory()) chmodSync(path, 0o755);
    else if (entry.isFile()) chmodSync(path, (lstatSync(path).mode & OWNER_MAY_EXECUTE) === 0 ? 0o644 : 0o755);
  }
}
