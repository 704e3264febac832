/**
 * The packages that are published, below DIRECTORY: runt, with the libraries, the daemon and launchers, which is the same for every machine; and for each
 * machine that is built (this one: bin/; arm64: build/arm64/bin) runt-linux-ARCHITECTURE with its programs, their licences and what relinks them. npm installs
 * the one that fits, as an optional dependency of runt.
 *
 * Usage: tsx tools/npm-packages.ts DIRECTORY ARCHITECTURE=TREE... (in the repository; each TREE has bin/ and build/; architectures as in Node's process.arch)
 */
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { setPublishedModes } from "./published-modes.ts";

interface Package {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly files: readonly string[];
  readonly [field: string]: unknown;
}

const PROGRAMS = ["runt", "runt-pause", "runtctl"];
/** Programs that npm puts into PATH. */
const LAUNCHED = ["runt", "runtctl"];
/** Of the machine on which it is written, and of the repository. */
const OWN_FIELDS = new Set(["private", "scripts", "devDependencies", "sideEffects"]);
/** With their names in `uname -m`. */
const MACHINES: Readonly<Record<string, string>> = { x64: "x86_64", arm64: "aarch64" };
const ARCHITECTURES = Object.keys(MACHINES);
/** Bills of materials (tools/sbom.ts). Those of runtd have the packages of npm that runt depends on, too. */
const BILLS = ["runt", "runtd"].flatMap((name) => [`${name}.spdx.json`, `${name}.cdx.json`]);
const LICENCES = ["LICENSE", "NOTICE"];
/** On Linux only, and for everybody: a package of a scope is private unless it says so. */
const PUBLISHED = { publishConfig: { access: "public" } };

const own = JSON.parse(readFileSync("package.json", "utf8")) as Package;
export const platformPackage = (architecture: string): string => `${own.name}-linux-${architecture}`;

export function mainManifest(): Package {
  const kept = Object.fromEntries(Object.entries(own).filter(([field]) => !OWN_FIELDS.has(field))) as Package;
  const isProgram = (file: string) => PROGRAMS.includes(file.replace(/^bin\//, ""));
  return {
    ...kept,
    ...PUBLISHED,
    files: ["bin", ...own.files.filter((file) => !isProgram(file))],
    bin: { ...(own["bin"] as object), ...Object.fromEntries(LAUNCHED.map((name) => [name, `bin/${name}.cjs`])) },
    optionalDependencies: Object.fromEntries(ARCHITECTURES.map((architecture) => [platformPackage(architecture), own.version])),
  };
}

export function platformManifest(architecture: string): Package {
  return {
    ...{ name: platformPackage(architecture), version: own.version },
    description: `The programs of ${own.name} for Linux on ${architecture}`,
    ...{ license: `${own.license} AND MIT AND ISC AND LGPL-2.1-only AND GPL-3.0-or-later WITH GCC-exception-3.1` },
    ...{ os: ["linux"], cpu: [architecture], preferUnplugged: true },
    ...PUBLISHED,
    files: ["bin", "third-party", "NOTICE", ...BILLS, "relink.tar.gz"],
  };
}

function writeManifest(directory: string, manifest: Package): void {
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, "package.json"), `${JSON.stringify(manifest, undefined, 2)}\n`);
}

function copy(from: string, to: string, mode?: number): void {
  mkdirSync(dirname(to), { recursive: true });
  cpSync(from, to, { recursive: true });
  if (mode !== undefined) chmodSync(to, mode);
}

function writeMain(directory: string): void {
  const manifest = mainManifest();
  writeManifest(directory, manifest);
  for (const file of [...manifest.files.filter((name) => name !== "bin" && !name.startsWith("!")), "README.md", "LICENSE"])
    copy(file, join(directory, file));
  copy("packaging/npm/launch.cjs", join(directory, "bin/launch.cjs"), 0o644);
  for (const name of LAUNCHED) {
    const launcher = join(directory, `bin/${name}.cjs`);
    writeFileSync(launcher, `#!/usr/bin/env node\nrequire("./launch.cjs")("${name}");\n`);
    chmodSync(launcher, 0o755);
  }
}

function writePlatform(directory: string, architecture: string, tree: string): void {
  writeManifest(directory, platformManifest(architecture));
  for (const name of PROGRAMS) copy(join(tree, "bin", name), join(directory, "bin", name), 0o755);
  for (const file of LICENCES) copy(file, join(directory, file));
  copy("packaging/npm/platform.md", join(directory, "README.md"));
  for (const file of ["third-party", ...BILLS]) copy(join(tree, "build", file), join(directory, file));
  copy(join(tree, `build/runt_${own.version}_${MACHINES[architecture]}_relink.tar.gz`), join(directory, "relink.tar.gz"), 0o644);
}

function main([output, ...trees]: readonly string[]): void {
  if (output === undefined || trees.length === 0) throw new Error("usage: npm-packages DIRECTORY ARCHITECTURE=TREE...");
  rmSync(output, { recursive: true, force: true });
  writeMain(join(output, "runt"));
  for (const word of trees) {
    const [architecture = "", tree = ""] = word.split("=", 2);
    if (!ARCHITECTURES.includes(architecture) || !existsSync(join(tree, "bin/runt")))
      throw new Error(`npm-packages: ${word}: not of ${ARCHITECTURES.join(", ")}, or nothing is built there`);
    writePlatform(join(output, `runt-linux-${architecture}`), architecture, tree);
  }
  setPublishedModes(output);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main(process.argv.slice(2));
