/** The Debian package of this tree, for the guest. */
import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";

/** Makes DIRECTORY/current.deb and returns its path. */
export function makePackage(repository: string, directory: string): string {
  const [stage, file] = [join(directory, "stage"), join(directory, "current.deb")];
  rmSync(stage, { recursive: true, force: true });
  try {
    const made = execFileSync(join(repository, "packaging/deb.sh"), [stage], {
      cwd: repository,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "inherit"],
    });
    execFileSync("mv", [made.trim(), file]);
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
  return file;
}
