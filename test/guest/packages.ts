/** The Debian package of this tree, and the same with a higher version: what an upgrade leads to. */
import { execFileSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Made in DIRECTORY: DIRECTORY/current.deb and DIRECTORY/newer.deb; returned in this order. */
export function makePackages(repository: string, directory: string): [current: string, newer: string] {
  const [stage, current, newer] = ["stage", "current.deb", "newer.deb"].map((name) => join(directory, name)) as [string, string, string];
  rmSync(stage, { recursive: true, force: true });
  try {
    const built = execFileSync(join(repository, "packaging/deb.sh"), [stage], {
      cwd: repository,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "inherit"],
    });
    execFileSync("mv", [built.trim(), current]);
    const tree = join(stage, "tree");
    execFileSync("dpkg-deb", ["--raw-extract", current, tree]);
    const control = join(tree, "DEBIAN/control");
    writeFileSync(control, readFileSync(control, "utf8").replace(/^Version: .*$/m, "$&+newer"));
    // The guest unpacks it by software emulation.
    execFileSync("dpkg-deb", ["--root-owner-group", "-Znone", "--build", tree, newer], { stdio: ["ignore", "ignore", "inherit"] });
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
  return [current, newer];
}
