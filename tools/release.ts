/**
 * What says whose the files of a release are: the provenance (VERSION.provenance.json), SHA256SUMS of everything, and, with a key, SHA256SUMS.sig and the
 * provenance in a signed envelope (VERSION.intoto.jsonl).
 *
 * Usage: tsx tools/release.ts DIRECTORY VERSION COMMIT (in the repository, by packaging/release.sh)
 * SOURCE_DATE_EPOCH: the time of the release. RUNT_SIGNING_KEY: a file with a private key of Ed25519 in PEM. RUNT_BUILDER: an address of who builds.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Artifact, type Material, materialsOf, statement } from "./release/provenance.ts";
import { detachedSignature, envelope, keyId, readSigningKey } from "./release/signature.ts";
import type { SpdxDocument } from "./sbom/spdx.ts";

const SUMS = "SHA256SUMS";
const UNNAMED_BUILDER = "https://runt.invalid/builder";
/** Packages of Debian whose programs write what is in the release. */
const TOOLS = ["binutils", "dpkg", "gcc", "gcc-aarch64-linux-gnu", "gzip", "linux-libc-dev", "linux-libc-dev-arm64-cross", "musl-tools"];
const MORE_TOOLS = ["qemu-user-static", "rpm", "tar"];

const [directory, version, commit] = process.argv.slice(2);
if (directory === undefined || version === undefined || commit === undefined) throw new Error("usage: release DIRECTORY VERSION COMMIT");

const sha256 = (path: string): string => createHash("sha256").update(readFileSync(path)).digest("hex");
const inDirectory = (name: string): string => join(directory, name);
const artifacts = (): Artifact[] =>
  readdirSync(directory)
    .sort()
    .map((name) => ({ name, sha256: sha256(inDirectory(name)) }));

function tools(): Material[] {
  const format = `\${binary:Package} \${Version} \${Architecture}\n`;
  const { stdout } = spawnSync("dpkg-query", ["-W", "-f", format, ...TOOLS, ...MORE_TOOLS], { encoding: "utf8" });
  const installed = (stdout ?? "").split("\n").map((line) => line.split(" "));
  return installed.flatMap(([name = "", number, architecture]) =>
    number === undefined ? [] : [{ uri: `pkg:deb/debian/${name.replace(/:.*$/, "")}@${number}?arch=${architecture}` }],
  );
}

const bills = readdirSync(directory).filter((name) => name.endsWith(".spdx.json"));
const documents = bills.sort().map((name) => JSON.parse(readFileSync(inDirectory(name), "utf8")) as SpdxDocument);
const lock = { name: "package-lock.json", digest: { sha256: sha256("package-lock.json") } };
const builder = process.env["RUNT_BUILDER"] || UNNAMED_BUILDER;
const build = { version, commit, epoch: Number(process.env["SOURCE_DATE_EPOCH"]), builder, node: process.version };
const provenance = Buffer.from(
  `${JSON.stringify(statement(build, artifacts(), [lock, ...materialsOf(documents), ...tools()]), undefined, 2)}\n`,
);
writeFileSync(inDirectory(`runt-${version}.provenance.json`), provenance);

const keyFile = process.env["RUNT_SIGNING_KEY"] ?? "";
if (keyFile !== "" && !existsSync(keyFile)) throw new Error(`release: RUNT_SIGNING_KEY: there is no file ${keyFile}`);
const key = keyFile === "" ? undefined : readSigningKey(keyFile);
if (key !== undefined) writeFileSync(inDirectory(`runt-${version}.intoto.jsonl`), `${JSON.stringify(envelope(key, provenance))}\n`);

const sums = Buffer.from(
  artifacts()
    .map((artifact) => `${artifact.sha256}  ${artifact.name}\n`)
    .join(""),
);
writeFileSync(inDirectory(SUMS), sums);
if (key === undefined) {
  process.stderr.write("release: NOT SIGNED: RUNT_SIGNING_KEY does not name a file with a private key (Ed25519, PEM)\n");
} else {
  writeFileSync(inDirectory(`${SUMS}.sig`), detachedSignature(key, sums));
  process.stderr.write(`release: signed with the key ${keyId(key)}\n`);
}
