/** The Debian packages of this tree, and the same with a higher version: what an upgrade leads to. */
import { execFileSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";

/** Made in DIRECTORY, and returned: runt-current.deb and runtd-current.deb, then runt-newer.deb and runtd-newer.deb. */
export function makePackages(repository: string, directory: string): string[] {
  const stage = join(directory, "stage");
  rmSync(stage, { recursive: true, force: true });
  try {
    const printed = execFileSync(join(repository, "packaging/deb.sh"), [stage], {
      cwd: repository,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "inherit"],
    });
    const current = printed
      .trim()
      .split("\n")
      .map((built) => {
        const file = join(directory, `${basename(built).replace(/_.*$/, "")}-current.deb`);
        execFileSync("mv", [built, file]);
        return file;
      });
    return [...current, ...current.map((file) => newerThan(file, join(stage, basename(file))))];
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
}

function newerThan(current: string, tree: string): string {
  const newer = current.replace("-current", "-newer");
  execFileSync("dpkg-deb", ["--raw-extract", current, tree]);
  const control = join(tree, "DEBIAN/control");
  const text = readFileSync(control, "utf8");
  const version = /^Version: (.*)$/m.exec(text)![1]!;
  writeFileSync(control, text.replaceAll(version, `${version}+newer`));
  // The guest unpacks it by software emulation.
  execFileSync("dpkg-deb", ["--root-owner-group", "-Znone", "--build", tree, newer], { stdio: ["ignore", "ignore", "inherit"] });
  return newer;
}
