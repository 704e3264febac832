/**
 * The bill of materials of bin/runt: build/runt.spdx.json (SPDX 2.3), and the licence texts of what is in it below build/third-party.
 * It comes from what the linker (build/runt.map, build/runt-init.map) and the bundler (build/bundle-inputs.txt) say they have put in. bin/runtctl has some more, whose texts
 * are there, too.
 *
 * Usage: tsx tools/sbom.ts (in the repository, after make bin/runt; SOURCE_DATE_EPOCH: the time in it, by default the commit's)
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { spdxFaults } from "./sbom/check.ts";
import { bundledComponents, linkedComponents } from "./sbom/component.ts";
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

const binary = readFileSync("bin/runt");
const digest = (algorithm: string): string => createHash(algorithm).update(binary).digest("hex");
const components = [
  ...linkedComponents(BUILD, [...linkedFiles(read(join(BUILD, "runt.map"))), ...linkedFiles(read(join(BUILD, "runt-init.map")))]),
  ...bundledComponents(read(join(BUILD, "bundle-inputs.txt")).split("\n").filter(Boolean)),
];
const known = new Set(components.map(({ name }) => name));
const ofClient = [
  ...linkedComponents(BUILD, linkedFiles(read(join(BUILD, "client/runtctl.map")))),
  ...bundledComponents(read(join(BUILD, "client/bundle-inputs.txt")).split("\n").filter(Boolean)),
];
const others = ofClient.filter(({ name }) => !known.has(name));
const document = spdxDocument(
  {
    version: (JSON.parse(read("package.json")) as { version: string }).version,
    commit: /RUNT_COMMIT "(.*)"/.exec(read(join(BUILD, "gen/build.h")))?.[1] ?? "",
    time: time(),
    sha1: digest("sha1"),
    sha256: digest("sha256"),
  },
  components,
);
const faults = spdxFaults(document);
if (faults.length > 0) throw new Error(`sbom: not SPDX 2.3\n${faults.join("\n")}`);

rmSync(TEXTS, { recursive: true, force: true });
mkdirSync(TEXTS, { recursive: true });
for (const { name, text } of [...components, ...others])
  copyFileSync(text, join(TEXTS, `${name.replace(/[@/]+/g, "-").replace(/^-/, "")}.txt`));
writeFileSync(join(BUILD, "runt.spdx.json"), `${JSON.stringify(document, undefined, 2)}\n`);
