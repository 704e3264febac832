/** The disk with what changes from run to run: this tree as it is built, Node, and the lanes of each machine. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Lane } from "./lanes.ts";

const SIZE = "1G";
/** Part of what is built. */
const BUILT = ["bin/runt", "bin/runt-pause", "bin/runtctl", "build/gen", "build/runt-init", "build/test", "build/bench"];
/** History, and what only the build and lint need. */
const UNUSED = new Set([".git", "bin", "build", "node_modules"]);
const UNUSED_PACKAGES = new Set(["@biomejs", "@typescript", "typescript", "typescript-7", "dependency-cruiser", ".cache", ".vite"]);

/** Makes DIRECTORY/payload.img, with these Debian packages in its `packages`, and returns its path. */
export function makePayload(
  repository: string,
  directory: string,
  lanes: Readonly<Record<string, readonly Lane[]>>,
  packages: readonly string[],
): string {
  const stage = join(directory, "payload");
  const image = `${stage}.img`;
  rmSync(stage, { recursive: true, force: true });
  rmSync(image, { force: true });
  try {
    const copy = (from: string, to: string) => {
      mkdirSync(dirname(join(stage, to)), { recursive: true });
      execFileSync("cp", ["-ax", from, join(stage, to)]);
    };
    const modules = readdirSync(join(repository, "node_modules")).filter((name) => !UNUSED_PACKAGES.has(name));
    const files = [
      ...readdirSync(repository).filter((name) => !UNUSED.has(name)),
      ...BUILT,
      ...modules.map((name) => join("node_modules", name)),
    ];
    for (const name of files) copy(join(repository, name), join("repository", name));
    for (const file of packages) copy(file, join("packages", basename(file)));
    copy(process.execPath, "bin/node");
    for (const machine in lanes) {
      writeFileSync(
        join(stage, `lanes-${machine}`),
        (lanes[machine] ?? []).map(({ name, silence, command }) => `${name}\t${silence}\t${command}\n`).join(""),
      );
    }
    execFileSync("mke2fs", ["-q", "-t", "ext4", "-O", "^has_journal,^metadata_csum", "-d", stage, image, SIZE]);
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
  return image;
}
