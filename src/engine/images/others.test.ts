/** Something of somebody else's, or something damaged, in the place of what the store of images has on disk. */
import { execFileSync } from "node:child_process";
import { existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { mountsBelow } from "../../node/index.ts";
import { readSmall } from "./blob.ts";
import { ImageStore } from "./images.ts";
import { hasLayer, Places, placeLayer } from "./places.ts";

let top = "";
const at = (name: string) => join(top, name);
const errors: unknown[] = [];
const store = () => new ImageStore({ directory: at("images"), bootId: "b", onSyncError: (error) => errors.push(error) });
beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), "runt-others-"));
  mkdirSync(at("theirs"));
  writeFileSync(at("theirs/precious"), "precious");
  new Places(at("images")).make();
});
afterEach(() => {
  for (const path of mountsBelow(top).reverse()) execFileSync("umount", [path]);
  rmSync(top, { recursive: true });
});

const fifo = (name: string) => execFileSync("mkfifo", [at(name)]);
const link = (name: string) => symlinkSync(at("theirs"), at(name));
const expectWhole = () =>
  expect([readdirSync(at("theirs")), readFileSync(at("theirs/precious"), "utf8")]).toEqual([["precious"], "precious"]);

test.each([
  ["a FIFO", () => fifo("images/layout/index.json")],
  ["a link", () => symlinkSync(at("theirs/precious"), at("images/layout/index.json"))],
  ["a directory", () => mkdirSync(at("images/layout/index.json"))],
])("%s for the index is put aside, and nothing waits for it", (_, make) => {
  make();
  expect(store().list()).toEqual([]);
  expect(readdirSync(at("images/layout"))).toContain("index.json.damaged");
  expectWhole();
});

test("links for what is written are replaced", () => {
  for (const name of ["oci-layout", "oci-layout.new"]) symlinkSync(at("theirs/precious"), at(`images/layout/${name}`));
  store();
  expect(lstatSync(at("images/layout/oci-layout")).isFile()).toBe(true);
  expectWhole();
});

test("a link for a directory of the store is an error, and what it leads to keeps its mode", () => {
  rmSync(at("images/layers"), { recursive: true });
  link("images/layers");
  expect(store).toThrow("is not a directory");
  expect(lstatSync(at("theirs")).mode & 0o777).not.toBe(0o700);
});

test("a start removes what a killed one was writing, whatever it is, and follows no link", async () => {
  writeFileSync(at("images/staging/blob-1"), "half");
  mkdirSync(at("images/staging/pull-1/image"), { recursive: true });
  link("images/staging/unpack-1");
  link("images/roots/stray");
  fifo("images/unsynced/one");
  symlinkSync(at("theirs/precious"), at("images/unsynced/two"));
  link("images/layers/one");
  mkdirSync(at("images/unsynced/three/below"), { recursive: true });
  await store().sweep(new Set());
  expect(["staging", "roots", "layers"].flatMap((name) => readdirSync(at(`images/${name}`)))).toEqual([]);
  expect([readdirSync(at("images/unsynced")), String(errors)]).toEqual([["three"], expect.stringContaining("EISDIR")]);
  expectWhole();
});

describe.each([
  ["a FIFO", () => fifo("images/roots/c/image.json")],
  ["half of a file", () => writeFileSync(at("images/roots/c/image.json"), '{"mani')],
])("%s for the image of a root file system", (_, make) => {
  test("keeps all images, and the others are listed", async () => {
    mkdirSync(at("images/roots/c"));
    make();
    writeFileSync(at(`images/layout/blobs/sha256/${"a".repeat(64)}`), "x");
    expect(await store().collect({ unusedMs: 0 }, false)).toEqual({ removed: [], freedBytes: 0 });
    expect(existsSync(at(`images/layout/blobs/sha256/${"a".repeat(64)}`))).toBe(true);
  });
});

test("what is no blob is not read, not waited for, and not removed with what is in it", async () => {
  const blob = (digit: string) => `images/layout/blobs/sha256/${digit.repeat(64)}`;
  fifo(blob("a"));
  symlinkSync(at("theirs/precious"), at(blob("b")));
  for (const digit of ["a", "b"]) expect(() => readSmall(at(blob(digit)), "it")).toThrow(/it: .* is (not a regular file|a symbolic link)/);
  mkdirSync(at(blob("c")));
  await store().collect({ unusedMs: 0 }, false);
  expect(readdirSync(at("images/layout/blobs/sha256"))).toEqual(["c".repeat(64)]);
  expectWhole();
});

test("a link for a layer is none, and gives its place to what was unpacked", () => {
  const places = new Places(at("images"));
  link("images/layers/one");
  mkdirSync(at("images/staging/content"));
  expect(hasLayer(places, "one")).toBe(false);
  placeLayer(places, "one", at("images/staging/content"));
  expect(hasLayer(places, "one")).toBe(true);
  expectWhole();
});

test.skipIf(process.geteuid?.() !== 0)(
  "what somebody has mounted in the root file system of a container is unmounted, and not emptied",
  async () => {
    mkdirSync(at("images/roots/c/upper/home"), { recursive: true });
    execFileSync("mount", ["--bind", at("theirs"), at("images/roots/c/upper/home")]);
    await store().releaseRoot("c");
    expect(readdirSync(at("images/roots"))).toEqual([]);
    expectWhole();
  },
);
