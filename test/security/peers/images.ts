/** Attacks by images: archives of `docker save` for both, and layouts of OCI for Podman. */
import { execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { altered, pax } from "../../engine/hostile-files.ts";
import { changed, layerOf, nested, selfish, withIndex } from "../../engine/hostile-layouts.ts";
import { baseLayer, type ImageText, type TarFile, tar, writeDockerArchive, writeLayout } from "../../engine/image-files.ts";
import type { Output } from "../../engines/process.ts";
import { finding, noCounterpart, type Peer, type PeerAttack } from "./peer.ts";

/** Whatever file of this name is outside of a layer has escaped. */
const ESCAPED = "runt-escaped";
const BOMB_MIB = 64;
const ARCHITECTURE = process.arch === "x64" ? "amd64" : process.arch;
const END = Buffer.alloc(1024);
const file = (name: string): TarFile => ({ name, content: "x" });
const link = (name: string, type: "1" | "2", to: string): TarFile => ({ name, type, link: to });
const up = (levels: number) => "../".repeat(levels);

function layers(witness: string): readonly Buffer[] {
  const secret = join(witness, "secret");
  return [
    ...[3, 4, 5, 8].map((levels) => tar([file(`${up(levels)}${ESCAPED}`)])),
    tar([file(`tmp/../../${ESCAPED}`)]),
    tar([file(`${up(12)}${witness.slice(1)}/${ESCAPED}`)]),
    tar([pax({ path: "" }), file(`../${ESCAPED}`)]),
    tar([pax({ path: `../${ESCAPED}` }), file("f")]),
    Buffer.concat([altered({ name: ESCAPED }, (header) => header.write("ustar  \0", 257) && header.write("../..", 345)), END]),
    tar([link("hard", "1", `${up(12)}${secret.slice(1)}`), file("hard")]),
    tar([link("hard", "1", secret), file("hard")]),
    tar([link("out", "2", witness), link("hard", "1", "out/secret"), file("hard")]),
    tar([link("out", "2", witness), file(`out/${ESCAPED}`)]),
    tar([link("out", "2", witness), file("out/.wh.secret")]),
    tar([link("out", "2", witness), file("out/.wh..wh..opq")]),
    tar([link("./", "2", witness), file(ESCAPED)]),
    ...[".wh...", "tmp/.wh...", ".wh..", "tmp/.wh.", `.wh.${up(12)}${secret.slice(1)}`].map((name) => tar([file(name)])),
    Buffer.concat([altered({ name: "f" }, (header) => header.write("7".repeat(11), 124)), END]),
    Buffer.concat([Buffer.alloc(512, 0x41), END]),
    tar([pax({ path: "d/".repeat(4000) }), file("f")]),
  ];
}

/** A directory beside the storage that nothing may change. */
function witnessOf(peer: Peer): { readonly path: string; isUntouched(): boolean } {
  const path = join(peer.directory, "witness");
  rmSync(path, { recursive: true, force: true });
  mkdirSync(path);
  writeFileSync(join(path, "secret"), "secret", { mode: 0o600 });
  return {
    path,
    isUntouched() {
      const { nlink, mode } = statSync(join(path, "secret"));
      return (
        readdirSync(path).join() === "secret" &&
        [nlink, mode & 0o777, readFileSync(join(path, "secret"), "utf8")].join() === [1, 0o600, "secret"].join()
      );
    },
  };
}

/** Files of the name that are in no layer: the storage of both keeps these in directories called `diff`. */
function escapees(peer: Peer): string[] {
  const found = execFileSync("find", [join(peer.directory, ".."), "/run", "/tmp", "/var/lib", "-name", ESCAPED], { encoding: "utf8" });
  return found.split("\n").filter((path) => path !== "" && !path.includes("/diff/"));
}

async function load(peer: Peer, image: ImageText): Promise<Output> {
  const archive = join(peer.directory, "image.tar");
  writeDockerArchive(archive, image);
  return peer.client("load", "-q", "-i", archive);
}

async function loadFiles(peer: Peer, files: readonly TarFile[]): Promise<Output> {
  const archive = join(peer.directory, "files.tar");
  writeFileSync(archive, tar(files));
  return peer.client("load", "-q", "-i", archive);
}

/** An image of one packed layer: so much of zeros. */
function bombOf(mebibytes: number): readonly TarFile[] {
  const layer = tar([{ name: "zeros", content: Buffer.alloc(mebibytes << 20) }]);
  const diffId = `sha256:${createHash("sha256").update(layer).digest("hex")}`;
  const config = {
    os: "linux",
    architecture: process.arch === "x64" ? "amd64" : process.arch,
    rootfs: { type: "layers", diff_ids: [diffId] },
  };
  const list = [{ Config: "config.json", RepoTags: ["bomb:v1"], Layers: ["layer.tar"] }];
  return [
    { name: "manifest.json", content: JSON.stringify(list) },
    { name: "config.json", content: JSON.stringify(config) },
    { name: "layer.tar", content: gzipSync(layer) },
  ];
}

export const layersOut: PeerAttack = async (peer) => {
  const witness = witnessOf(peer);
  const all = layers(witness.path);
  let refused = 0;
  for (const layer of all) if ((await load(peer, { layers: [baseLayer(), layer] })).status !== 0) refused++;
  const bomb = await loadFiles(peer, bombOf(BOMB_MIB));
  const isFine = (await load(peer, { layers: [baseLayer()] })).status === 0;
  const escaped = escapees(peer);
  const detail = `${refused} of ${all.length} refused, ${escaped.length} files outside`;
  if (!witness.isUntouched() || escaped.length > 0 || !isFine) return finding(false, detail);
  if (bomb.status !== 0) return finding(true, detail);
  return { word: "in part", detail: `${detail}; but ${BOMB_MIB} MiB of zeros, packed in 64 KiB, are unpacked: there is no bound` };
};

/** Each with a lie; the name is told when it is believed. */
type Lie = readonly [what: string, output: () => Promise<Output>];

export const descriptions: PeerAttack = async (peer) => {
  const { pid } = peer;
  if (peer.name === "Podman") await taken(peer, layoutOf());
  const lies = peer.name === "Podman" ? liesOfLayouts(peer) : liesOfArchives(peer);
  const believed: string[] = [];
  for (const [what, output] of lies) if ((await output()).status === 0) believed.push(what);
  const goesOn = peer.pid === pid && (await load(peer, { layers: [baseLayer()] })).status === 0;
  const detail = `${lies.length - believed.length} of ${lies.length} refused${believed.length > 0 ? `; believed: ${believed.join(", ")}` : ""}`;
  return believed.length > 0 && goesOn ? { word: "in part", detail } : finding(goesOn, detail);
};

let count = 0;

/** One that is in no storage yet: what is there already is not looked at again. */
const fresh = (): Buffer => tar([file(`f${++count}`)]);

function layoutOf(image: Partial<ImageText> = {}): string {
  // Podman takes its path for a name, which has small letters only.
  const directory = `/tmp/layout-${++count}`;
  writeLayout(directory, { layers: [fresh()], ...image });
  return directory;
}

/** Without a lie it is taken: else nothing would be said by what is refused. */
async function taken(peer: Peer, layout: string): Promise<void> {
  const { status, stderr } = await pull(peer, layout);
  if (status !== 0) throw new Error(`an image without a lie is refused: ${stderr}`);
}

const pull = (peer: Peer, layout: string) => peer.client("pull", "-q", `oci:${layout}:v1`);

/** The manifest tells another size of its layer. */
function sized(size: number): string {
  const layers = [fresh()];
  return layoutOf({ layers, manifest: { layers: [{ ...layerOf(layoutOf({ layers })), size }] } });
}

function liesOfLayouts(peer: Peer): readonly Lie[] {
  const more = (bytes: Buffer) => Buffer.concat([bytes, Buffer.from(" ")]);
  const cases: readonly (readonly [string, string])[] = [
    ["a layer with another content", changed(layoutOf(), "layer", more)],
    ["a layer that is cut off", changed(layoutOf(), "layer", (bytes) => bytes.subarray(0, 60))],
    ["a configuration with another content", changed(layoutOf(), "config", more)],
    ["a manifest with another content", changed(layoutOf(), "manifest", more)],
    ["another digest of what is unpacked", layoutOf({ top: { rootfs: { type: "layers", diff_ids: [`sha256:${"0".repeat(64)}`] } } })],
    ["a size that lies", sized(1)],
    ["a size that is larger than all", sized(1e15)],
    ["layers that are no list", layoutOf({ manifest: { layers: { length: 3 } } })],
    ["fewer layers than said", layoutOf({ manifest: { layers: [] } })],
    ["an index within an index", nested(layoutOf(), 2)],
    ["an index of itself", selfish(layoutOf())],
    ["a configuration of 64 MiB", changed(layoutOf(), "config", () => Buffer.alloc(64 << 20, 0x20), true)],
    ["a configuration that is no JSON", changed(layoutOf(), "config", () => Buffer.from("{"), true)],
    ["a manifest of 64 MiB", changed(layoutOf(), "manifest", () => Buffer.alloc(64 << 20, 0x20), true)],
    ["an index that is deep", withIndex(layoutOf(), "[".repeat(1 << 20))],
  ];
  return cases.map(([what, directory]) => [what, () => pull(peer, directory)] as const);
}

/** The archive of `docker save` has no digests but those of what is unpacked. */
function liesOfArchives(peer: Peer): readonly Lie[] {
  const image = (top: object) => () => load(peer, { layers: [baseLayer()], top: { ...top } });
  const archive = (files: readonly TarFile[]) => () => loadFiles(peer, files);
  const list = (value: unknown): TarFile => ({ name: "manifest.json", content: JSON.stringify(value) });
  const inner = tar([file("f")]);
  const of = (...diffIds: string[]) =>
    JSON.stringify({ os: "linux", architecture: ARCHITECTURE, rootfs: { type: "layers", diff_ids: diffIds } });
  const config: TarFile = { name: "config.json", content: of() };
  const configOfLayer: TarFile = { name: "config.json", content: of(`sha256:${createHash("sha256").update(inner).digest("hex")}`) };
  const one = { Config: "config.json", RepoTags: ["a:v1"], Layers: [] as string[] };
  // Both are as they must be, but for the place where they are.
  for (const [name, content] of [
    ["outside.json", of()],
    ["outside.tar", inner],
  ] as const)
    writeFileSync(`/tmp/${name}`, content);
  const outside = `${up(12)}tmp/outside`;
  return [
    ["another digest of what is unpacked", image({ rootfs: { type: "layers", diff_ids: [`sha256:${"0".repeat(64)}`] } })],
    ["fewer layers than said", image({ rootfs: { type: "layers", diff_ids: [] } })],
    ["a configuration that is no JSON", archive([list([one]), { name: "config.json", content: "{" }])],
    ["a configuration of 64 MiB", archive([list([one]), { name: "config.json", content: Buffer.alloc(64 << 20, 0x20) }])],
    ["a list of images that is no list", archive([list({ length: 3 }), config])],
    ["a list that is deep", archive([{ name: "manifest.json", content: "[".repeat(1 << 20) }, config])],
    ["a configuration outside of the archive", archive([list([{ ...one, Config: `${outside}.json` }]), config])],
    ["a layer outside of the archive", archive([list([{ ...one, Layers: [`${outside}.tar`] }]), configOfLayer])],
    ["a configuration that is a link out of it", archive([list([one]), link("config.json", "2", "/tmp/outside.json")])],
  ];
}

/** The layer has two contents by turns, of one length, while it is copied. */
const FLIP = `const { renameSync, copyFileSync } = require("node:fs"); const [path, good, bad] = process.argv.slice(1);
  for (;;) for (const one of [good, bad]) { copyFileSync(one, path + ".new"); renameSync(path + ".new", path); }`;
const PULLS = 10;

export const exchanged: PeerAttack = async (peer) => {
  if (peer.name === "Docker") return noCounterpart("layouts");
  const layout = layoutOf({
    layers: [baseLayer(), tar([{ name: "which", content: "good" }])],
    pack: (bytes) => bytes,
    mediaType: TAR,
  });
  const manifest = JSON.parse(readFileSync(join(layout, "index.json"), "utf8")).manifests[0].digest.slice("sha256:".length);
  const { layers: parts } = JSON.parse(readFileSync(join(layout, "blobs/sha256", manifest), "utf8"));
  const path = join(layout, "blobs/sha256", parts[1].digest.slice("sha256:".length));
  const [good, bad] = [join(peer.directory, "good"), join(peer.directory, "bad")];
  await taken(peer, layout);
  writeFileSync(good, readFileSync(path));
  writeFileSync(bad, tar([{ name: "which", content: "evil" }]));
  const child = spawn(process.execPath, ["-e", FLIP, path, good, bad], { stdio: "ignore" });
  let [evil, right] = [0, 0];
  try {
    for (let round = 0; round < PULLS; round++) {
      const { status, stdout } = await pull(peer, layout);
      if (status !== 0) continue;
      right++;
      if ((await peer.ok("run", "--rm", "--network", "none", stdout.trim(), "cat", "/which")) !== "good") evil++;
      await peer.client("rmi", "-f", stdout.trim());
    }
  } finally {
    child.kill("SIGKILL");
  }
  return finding(evil === 0, `${PULLS} times: ${right} with the content of their digest, ${PULLS - right} refused, ${evil} with another`);
};

const TAR = "application/vnd.oci.image.layer.v1.tar";
