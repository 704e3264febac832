import { expect, test } from "vitest";
import { ImageError } from "./errors.ts";
import { jsonOf, partsOf } from "./manifest.ts";

const DIGEST = `sha256:${"1".repeat(64)}`;
const PART = { mediaType: "x", digest: DIGEST, size: 1 };

const messageOf = (value: unknown) => {
  try {
    partsOf(Buffer.from(JSON.stringify(value)), "m");
  } catch (error) {
    return (error as ImageError).message;
  }
  return undefined;
};

test("a manifest with any number of wrong layers has a short message, which names the first", () => {
  expect(messageOf({ schemaVersion: 2, config: PART, layers: [PART] })).toBeUndefined();
  expect(messageOf({ schemaVersion: 2, config: PART, layers: [PART, {}, {}, {}] })).toMatch(
    /^m: it is no manifest of an image: layers\.1\.mediaType: [^\n]*$/,
  );
  expect(messageOf({ schemaVersion: 2, config: PART, layers: Array.from({ length: 50_000 }, () => 0) })).toMatch(
    /^m: it is no manifest of an image: layers: .*1000/,
  );
});

test("JSON with far more values than an image has is not parsed", () => {
  expect(() => jsonOf(Buffer.from(`[${"0,".repeat(1_000_000)}0]`), "m")).toThrow("m: its JSON has more than 100000 values");
  expect(() => jsonOf(Buffer.from("["), "m")).toThrow("m: it is no JSON");
  expect(jsonOf(Buffer.from("[1]"), "m")).toEqual([1]);
});

test("what an error of an image quotes is cut", () => {
  expect(new ImageError("image-unsupported", "y".repeat(4_000_000)).message).toMatch(
    /^y{1000}\.\.\. \(cut after 1000 of 4000000 characters\)$/,
  );
});
