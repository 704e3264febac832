/** Images that an enemy has made: the task says what is wrong with them, nothing outside of the store is touched, and the next image runs. */
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { altered, behindOddSize, inOldDirectory, part, pax } from "./hostile-files.ts";
import { changed, layerOf, nested, selfish, withIndex } from "./hostile-layouts.ts";
import { hostileScene } from "./hostile-scene.ts";
import { type TarFile, tar } from "./image-files.ts";
import { isRoot, useEngine } from "./support.ts";

const HAS_PROGRAMS = ["skopeo", "umoci"].every((name) => existsSync(`/usr/bin/${name}`));
const MOST_BYTES = 16 << 20;
const MOST_FILES = 300;
const SPARSE: TarFile[] = [
  pax({ "GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.name": "hole", "GNU.sparse.realsize": String(4 * MOST_BYTES) }),
  { name: "GNUSparseFile.0/hole", content: "1\n0\n0\n".padEnd(512, "\0") },
];
const OVERLAY: TarFile[] = [pax({ "SCHILY.xattr.trusted.overlay.opaque": "y" }), { name: "d/", type: "5" }];
const END = Buffer.alloc(1024);

describe.skipIf(!isRoot || !HAS_PROGRAMS)("hostile images (needs root, skopeo and umoci)", () => {
  const scene = useEngine();
  const { witness, images, layout, above, apply, stopped, remove, said, makeWitness, assertUntouched } = hostileScene(scene);
  type Case = readonly [what: string, directory: string, reason: RegExp];
  /** All at once: each stops for its reason. Afterwards a good one runs. */
  const assertRefused = async (cases: readonly Case[]) => {
    for (const [at, [, directory]] of cases.entries()) await apply(`t${at}`, directory);
    const found: [string, string][] = [];
    for (const [at, [what]] of cases.entries()) found.push([what, (await stopped(`t${at}`)).reason]);
    expect(found).toEqual(cases.map(([what, , reason]) => [what, expect.stringMatching(reason)]));
    for (const at of cases.keys()) await remove(`t${at}`);
    await assertUntouched();
    expect(await said(above(tar([{ name: "fine", content: "fine" }])), "cat /fine")).toEqual(["fine"]);
  };
  const daemon = (...further: string[]) =>
    scene.daemon({ args: [...further, "--image-max-size", String(MOST_BYTES), "--image-max-files", String(MOST_FILES)] });

  test("layers that lead out, hide something, or are more than they seem", async () => {
    makeWitness();
    const outside = join(witness(), "secret");
    await daemon();
    const refused = (what: string, layer: Buffer, reason: RegExp): Case => [what, above(layer), reason];
    await assertRefused([
      refused("a name with ..", tar([{ name: "../../../witness/new", content: "x" }]), /"\.\.\/\.\.\/.*leads out of the root file system/),
      refused("a name with .. in it", tar([{ name: "tmp/../../new", content: "x" }]), /leads out/),
      refused(
        "a long name of GNU",
        Buffer.concat([part([pax({ path: "fine" }), { name: "L", type: "L", content: "../new\0" }, { name: "x" }]), END]),
        /leads out/,
      ),
      refused("an empty name of pax", tar([pax({ path: "" }), { name: "../new", content: "x" }]), /leads out|damaged/),
      refused(
        "a prefix of GNU",
        Buffer.concat([altered({ name: "new" }, (header) => header.write("ustar  \0", 257) && header.write("../..", 345)), END]),
        /leads out/,
      ),
      refused("a link to a file outside", tar([{ name: "hard", type: "1", link: `../../../../..${outside}` }]), /"hard" is a link to/),
      refused("an absolute link", tar([{ name: "hard", type: "1", link: outside }]), /could not be unpacked: .*no such file/),
      refused(
        "a link through a symbolic one",
        tar([
          { name: "out", type: "2", link: witness() },
          { name: "hard", type: "1", link: "out/secret" },
        ]),
        /could not be unpacked: .*no such file/,
      ),
      refused(
        "the root as a link",
        tar([
          { name: "./", type: "2", link: witness() },
          { name: "new", content: "x" },
        ]),
        /could not be unpacked: .*malicious/,
      ),
      refused("a whiteout of ..", tar([{ name: ".wh...", content: "" }]), /"\.wh\.\.\." removes a directory/),
      refused("a whiteout of .. below", tar([{ name: "tmp/.wh...", content: "" }]), /removes a directory/),
      refused("a whiteout of .", tar([{ name: ".wh..", content: "" }]), /removes a directory/),
      refused("a whiteout of nothing", tar([{ name: "tmp/.wh.", content: "" }]), /removes a directory/),
      refused("an attribute of overlays", tar(OVERLAY), /"d\/" has an attribute of the overlay file system/),
      refused("one of users", tar([pax({ "SCHILY.xattr.user.overlay.redirect": "/x" }), { name: "f" }]), /attribute of the overlay/),
      refused("a sparse file of pax", tar(SPARSE), /is a sparse file/),
      refused("a sparse file of GNU", tar([{ name: "hole", type: "S" }]), /is a sparse file/),
      refused("an attribute within an old directory", Buffer.concat([inOldDirectory(OVERLAY), END]), /attribute of the overlay/),
      refused("a hole within an old directory", Buffer.concat([inOldDirectory(SPARSE), END]), /sparse file/),
      refused("an attribute behind an odd size", Buffer.concat([behindOddSize(OVERLAY), END]), /attribute of the overlay/),
      refused("too many files", tar(Array.from({ length: MOST_FILES }, (_, at) => ({ name: `f${at}` }))), /more than 300 files/),
      refused(
        "too many directories that are only implied",
        tar([pax({ path: `${"d/".repeat(MOST_FILES)}f` }), { name: "f" }]),
        /more than 300 files/,
      ),
      refused("a name longer than a path", tar([pax({ path: "d/".repeat(4000) }), { name: "f" }]), /longer than a path/),
      refused("a bomb", tar([{ name: "zeros", content: Buffer.alloc(MOST_BYTES + 1) }]), /larger than 16777216 bytes/),
      refused(
        "a size of nine hundred thousand million",
        Buffer.concat([altered({ name: "f" }, (header) => header.write("7".repeat(11), 124)), END]),
        /could not be unpacked/,
      ),
      refused("a header that is none", Buffer.concat([Buffer.alloc(512, 0x41), END]), /wrong checksum/),
      refused("a damaged extended header", tar([{ name: "pax", type: "x", content: "9999 path=x\n" }, { name: "f" }]), /damaged/),
    ]);
  });

  test("what is odd and harmless stays in the root file system", async () => {
    makeWitness();
    await daemon();
    const odd = above(
      tar([
        { name: "out", type: "2", link: witness() },
        { name: "out/new", content: "inside" },
        { name: "out/.wh.secret", content: "" },
        { name: `${witness()}/`, type: "5" },
        { name: "/absolute", content: "absolute" },
        { name: "tmp/two\nlines", content: "x" },
        { name: "set", content: "x", mode: 0o6755 },
        { name: "zero", type: "3", device: [1, 5], mode: 0o666 },
        { name: "memory", type: "3", device: [1, 1], mode: 0o666 },
        { name: "fifo", type: "6", mode: 0o666 },
        { name: "etc/passwd", type: "6" },
      ]),
    );
    const script = `cat ${witness()}/new /absolute; echo; ls /tmp | grep lines; stat -c %a /set; for d in zero memory; do cat /$d >/dev/null 2>&1 && echo $d opens; done; true`;
    const lines = ["insideabsolute", "two?lines", "6755"];
    expect(await said(odd, script)).toEqual(lines);
    await assertUntouched();
    // It is the root of the store that keeps everybody else from setuid programs, whoever has made it.
    expect(statSync(images()).mode & 0o777).toBe(0o700);
    // What is only unusual is as good as any: layers that are not packed, and an index around the image.
    const plain = { pack: (archive: Buffer) => archive, mediaType: "application/vnd.oci.image.layer.v1.tar" };
    for (const one of [layout(plain), nested(layout(plain), 1), nested(layout(), 1)])
      expect(await said(one, "echo runs")).toEqual(["runs"]);
  });

  test("the same without overlays, on a directory that was there before", async () => {
    makeWitness();
    mkdirSync(images(), { recursive: true });
    chmodSync(images(), 0o755);
    await daemon("--image-roots", "copy");
    expect(statSync(images()).mode & 0o777).toBe(0o700);
    const odd = above(
      tar([
        { name: "set", content: "x", mode: 0o6755 },
        { name: "zero", type: "3", device: [1, 5], mode: 0o666 },
      ]),
    );
    expect(
      await said(
        odd,
        "stat -c %a /set; cat /zero >/dev/null 2>&1 & sleep 0.3; kill -0 $! 2>/dev/null && echo opens; kill $! 2>/dev/null; true",
      ),
    ).toEqual(["6755"]);
    await assertUntouched();
  });

  test("descriptions that are not those of their content", async () => {
    makeWitness();
    await daemon();
    const cases: readonly Case[] = [
      ["a layer with another content", changed(layout(), "layer", (bytes) => Buffer.concat([bytes, bytes])), /digest did not match/i],
      ["a layer that is cut off", changed(layout(), "layer", (bytes) => bytes.subarray(0, 1000)), /digest did not match/i],
      ["a configuration with another content", changed(layout(), "config", (bytes) => Buffer.concat([bytes, Buffer.from(" ")])), /digest/],
      [
        "a manifest with another content",
        changed(layout(), "manifest", (bytes) => Buffer.concat([bytes, Buffer.from(" ")])),
        /its index names no manifest with the digest/,
      ],
      [
        "another digest of what is unpacked",
        layout({ top: { rootfs: { type: "layers", diff_ids: [`sha256:${"0".repeat(64)}`] } } }),
        /could not be unpacked: .*diffid mismatch/,
      ],
      [
        "a size that lies",
        layout({ manifest: { layers: [{ ...layerOf(layout()), size: 1 }] } }),
        /has \d+ bytes, and its manifest says 1$/,
      ],
      ["a size that is larger than all", layout({ manifest: { layers: [{ ...layerOf(layout()), size: 1e15 }] } }), /this host allows/],
      ["a media type that nobody knows", layout({ mediaType: "application/x-unknown" }), /media type application\/x-unknown/i],
      ["a layer that is nothing", layout({ manifest: { layers: [null] } }), /an entry without a digest/],
      ["layers that are no list", layout({ manifest: { layers: { length: 3 } } }), /json|manifest/],
      ["fewer layers than said", layout({ manifest: { layers: [] } }), /it has 0 layers, and its configuration 1/],
      ["an index within an index", nested(layout(), 2), /index|manifest/],
      ["an index of itself", selfish(layout()), /digest|index|manifest/],
      ["another architecture", layout({ top: { architecture: "sparc" } }), /it is for linux\/sparc/],
      [
        "a configuration of 64 MiB",
        changed(layout(), "config", () => Buffer.alloc(64 << 20, 0x20), true),
        /too large|exceeded|larger|limit/,
      ],
      ["a configuration that is no JSON", changed(layout(), "config", () => Buffer.from("{"), true), /JSON/],
      ["a manifest that is no JSON", changed(layout(), "manifest", () => Buffer.from("{"), true), /JSON/],
      ["a manifest of 64 MiB", changed(layout(), "manifest", () => Buffer.alloc(64 << 20, 0x20), true), /printed more than 4194304 bytes/],
      ["an index that is no JSON", withIndex(layout(), "{"), /JSON|EOF/],
      ["an index that is deep", withIndex(layout(), "[".repeat(1 << 20)), /JSON|EOF|depth/],
      ["an index without anything", withIndex(layout(), '{"schemaVersion":2,"manifests":[]}'), /v1/],
      [
        "a reference out of the layout",
        withIndex(layout(), readFileSync(join(layout(), "index.json"), "utf8").replace(/sha256:[0-9a-f]{61}/, "sha256:../../../../../")),
        /digest/,
      ],
      [
        "a directory as the index",
        (() => {
          const at = layout();
          rmSync(join(at, "index.json"));
          mkdirSync(join(at, "index.json"));
          return at;
        })(),
        /index.json is no regular file/,
      ],
      ["a configuration that is deep", changed(layout(), "config", () => Buffer.from("[".repeat(1 << 20)), true), /JSON/],
    ];
    await assertRefused(cases);
  });
});
