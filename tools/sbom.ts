/**
 * The bills of materials of the build, each as SPDX 2.3 and as CycloneDX 1.5, and the licence texts of what is in the programs below build/third-party:
 *
 *   build/runt.spdx.json, build/runt.cdx.json      bin/runt
 *   build/runtd.spdx.json, build/runtd.cdx.json    bin/runtctl, bin/runt-pause, and what of npm's packages is in runtd and beside it
 *
 * They come from what the linker (build/runt.map, build/runt-init.map, build/client/runtctl.map) and the bundlers (build/bundle-inputs.txt,
 * build/client/bundle-inputs.txt) say they have put in, and from package-lock.json.
 *
 * Usage: tsx tools/sbom.ts (in the repository, after make library; SOURCE_DATE_EPOCH: the time in them, by default the commit's)
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bundleDaemon } from "./bundle/daemon.ts";
import { usedInputs } from "./bundle/inputs.ts";
import { spdxFaults } from "./sbom/check.ts";
import { bundledComponents, type Component, installedComponents, linkedComponents } from "./sbom/component.ts";
import { cycloneDocument } from "./sbom/cyclonedx.ts";
import { linkedFiles } from "./sbom/linked.ts";
import { spdxDocument } from "./sbom/spdx.ts";

const BUILD = "build";
const TEXTS = join(BUILD, "third-party");
const read = (file: string): string => readFileSync(file, "utf8");

function git(...words: string[]): string {
  const { status, stdout } = spawnSync("git", words, { encoding: "utf8" });
  return status === 0 ? stdout.trim() : "";
}

function time(): number {
  const given = process.env["SOURCE_DATE_EPOCH"] ?? git("log", "-1", "--format=%ct");
  return given === "" ? Math.floor(Date.now() / 1000) : Number(given);
}

function file(name: string) {
  const content = readFileSync(join("bin", name));
  const digest = (algorithm: string): string => createHash(algorithm).update(content).digest("hex");
  return { name, sha1: digest("sha1"), sha256: digest("sha256") };
}

const lines = (path: string): string[] => read(join(BUILD, path)).split("\n").filter(Boolean);
const linked = (...maps: string[]) =>
  linkedComponents(
    BUILD,
    maps.flatMap((map) => linkedFiles(read(join(BUILD, map)))),
  );
/** Components that are not in the first list: a package may be bundled into a program, and be there whole beside it. */
const others = (first: readonly Component[], second: readonly Component[]): Component[] => {
  const known = new Set(first.map(({ name }) => name));
  return second.filter(({ name }) => !known.has(name));
};

const ofRuntime = [...linked("runt.map", "runt-init.map"), ...bundledComponents(lines("bundle-inputs.txt"))];
const ofClient = [...linked("client/runtctl.map"), ...bundledComponents(lines("client/bundle-inputs.txt"))];
const installed = installedComponents();
const ofDaemon = [...installed, ...others(installed, bundledComponents(usedInputs((await bundleDaemon(false)).outputs)))];
const DOCUMENTS: readonly (readonly [name: string, files: readonly string[], components: readonly Component[]])[] = [
  ["runt", ["runt"], ofRuntime],
  ["runtd", ["runtctl", "runt-pause"], [...ofDaemon, ...others(ofDaemon, ofClient)]],
];
const origin = {
  version: (JSON.parse(read("package.json")) as { version: string }).version,
  commit: /RUNT_COMMIT "(.*)"/.exec(read(join(BUILD, "gen/build.h")))?.[1] ?? "",
  time: time(),
};

function write(name: string, document: object): void {
  writeFileSync(join(BUILD, name), `${JSON.stringify(document, undefined, 2)}\n`);
}

for (const [name, files, components] of DOCUMENTS) {
  const subject = { ...origin, name, files: files.map(file) };
  const document = spdxDocument(subject, components);
  const faults = spdxFaults(document);
  if (faults.length > 0) throw new Error(`sbom: ${name}: not SPDX 2.3\n${faults.join("\n")}`);
  write(`${name}.cdx.json`, cycloneDocument(subject, components));
  write(`${name}.spdx.json`, document);
}

rmSync(TEXTS, { recursive: true, force: true });
mkdirSync(TEXTS, { recursive: true });
for (const { name, text } of [...ofRuntime, ...others(ofRuntime, ofClient)])
  copyFileSync(text, join(TEXTS, `${name.replace(/[@/]+/g, "-").replace(/^-/, "")}.txt`));
