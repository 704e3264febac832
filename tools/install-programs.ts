/**
 * Put runtd with everything that it needs below a directory: its files (tools/bundle-daemon.ts), the packages with native code that these import (of the
 * code only one machine's), and a launcher. Node itself is the host's.
 *
 * Usage: tsx tools/install-programs.ts DIRECTORY [ARCHITECTURE] (as in Node's process.arch, by default this machine's)
 */
import { chmodSync, cpSync, mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { INSTALLED_PACKAGES } from "./bundle/daemon.ts";
import { setPublishedModes } from "./published-modes.ts";

const [directory, architecture = process.arch] = process.argv.slice(2);
if (directory === undefined) throw new Error("usage: install-programs DIRECTORY [ARCHITECTURE]");

/** What a program is made of, and whose it is. */
const KEPT = /(?:\.(?:js|cjs|mjs|json|node|cache)|^licen[cs]e(?:\.\w+)?|^notice)$/i;
const ARCHITECTURE = `linux-${architecture}`;

function isKept(path: string): boolean {
  const inPackage = relative(".", path).split("/");
  const prebuilds = inPackage.indexOf("prebuilds");
  if (prebuilds !== -1 && inPackage[prebuilds + 1] !== undefined && inPackage[prebuilds + 1] !== ARCHITECTURE) return false;
  return statSync(path).isDirectory() ? basename(path) !== "src" || !path.includes("@photostructure") : KEPT.test(basename(path));
}

rmSync(directory, { recursive: true, force: true });
mkdirSync(directory, { recursive: true });
for (const path of ["dist/runtd", "package.json", ...INSTALLED_PACKAGES])
  cpSync(path, join(directory, path), { recursive: true, filter: isKept });
const program = join(directory, "runtd.cjs");
writeFileSync(
  program,
  `"use strict";
// Readable by every Node: an old one is told what is missing.
if (Number(process.versions.node.split(".")[0]) < 20) {
  process.stderr.write("runtd: Node.js 20 or newer is needed, and this is " + process.versions.node + "\\n");
  process.exit(69);
}
import("./dist/runtd/main.js");
`,
);
chmodSync(program, 0o644);
setPublishedModes(directory);
