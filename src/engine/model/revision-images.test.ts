import { expect, test } from "vitest";
import { taskSchema } from "../spec/index.ts";
import { newRecord } from "./new-record.ts";
import type { ImageRecord } from "./record.ts";
import { agree, hasImages, imagesWith, movedImages } from "./revision-images.ts";

const A = "docker://registry.invalid/a:1";
const B = "docker://registry.invalid/b:1";
const at = { bootId: "b", bootMs: 0, wallMs: 0 };
const spec = taskSchema.parse({
  name: "web",
  containers: [
    { name: "one", image: A },
    { name: "two", image: B },
    { name: "bare", rootfs: "/r", command: "x" },
  ],
});

function image(reference: string, digest: string, via: ImageRecord["via"] = "cache"): ImageRecord {
  return { reference, digest, manifest: `m-${digest}`, config: null, via, stopSignal: null, healthCheck: null };
}

function task(images: Readonly<Record<string, ImageRecord>>) {
  return newRecord({ id: "g.web.1", group: "g", spec, cgroup: null, at, images });
}

test("a new task gets the images of its version, and pulls the others", () => {
  const { containers } = task({ [A]: image(A, "d1") });
  expect(containers.map((one) => one.image?.digest ?? null)).toEqual(["d1", null, null]);
});

test("a version keeps the first image that it has for a reference", () => {
  const known = imagesWith(undefined, [task({ [A]: { ...image(A, "d1", "usingCachedDigest"), pullError: "no answer" } })]);
  expect(known).toEqual({ [A]: image(A, "d1") });
  expect(imagesWith(known, [task({ [A]: image(A, "d2") })])).toBe(known);
  expect(imagesWith(known, [task({ [A]: image(A, "d2"), [B]: image(B, "d3") })])).toEqual({ [A]: image(A, "d1"), [B]: image(B, "d3") });
  expect(imagesWith(undefined, [task({})])).toBeUndefined();
});

test("two versions agree unless a reference leads to different images", () => {
  expect(agree(undefined, { [A]: image(A, "d1") })).toBe(true);
  expect(agree({ [A]: image(A, "d1") }, { [B]: image(B, "d2") })).toBe(true);
  expect(agree({ [A]: image(A, "d1") }, { [A]: image(A, "d2") })).toBe(false);
});

test("R12 a task has the images of a version if each that is known is the one that it runs", () => {
  expect(hasImages(task({ [A]: image(A, "d1") }), { [A]: image(A, "d1") })).toBe(true);
  expect(hasImages(task({ [A]: image(A, "d1") }), undefined)).toBe(true);
  expect(hasImages(task({ [A]: image(A, "d2") }), { [A]: image(A, "d1") })).toBe(false);
  expect(hasImages(task({}), { [A]: image(A, "d1") })).toBe(false);
});

test("images that have moved are told by their place in the spec", () => {
  expect(movedImages(spec, { [A]: image(A, "d1"), [B]: image(B, "d2") }, { [A]: image(A, "d1"), [B]: image(B, "d3") })).toEqual([
    "/containers/1/image",
  ]);
  expect(movedImages(spec, undefined, { [A]: image(A, "d1") })).toEqual([]);
});
