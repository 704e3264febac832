/** The client as it is built: with the code that V8 has made of it, and without. */
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { REPOSITORY } from "../support/programs.ts";

let directory: string;
let cache: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "runt-client-start-"));
  cache = join(directory, "dist/runtctl/client.cache");
  mkdirSync(join(directory, "dist"));
  for (const path of ["package.json", "dist/runtctl"]) cpSync(join(REPOSITORY, path), join(directory, path), { recursive: true });
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Whether V8 takes the code: it is asked in a process with the flags of the client. */
function isTaken(): boolean {
  const script = `
    const { readFileSync } = require("node:fs");
    const [source, cache] = ["js", "cache"].map((kind) => readFileSync("dist/runtctl/client." + kind));
    const cachedData = cache.subarray(source.indexOf("\\n") + 1);
    console.log(new (require("node:vm").Script)(source.toString("latin1"), { cachedData }).cachedDataRejected === false);`;
  return execFileSync(process.execPath, ["-e", script], { cwd: directory, encoding: "utf8" }) === "true\n";
}

const version = () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(directory, "dist/runtctl/main.js"), "--version"], {
    encoding: "utf8",
  });
  return [status, stdout, stderr];
};
const asAlways = () => [0, `${JSON.parse(readFileSync(join(REPOSITORY, "package.json"), "utf8")).version}\n`, ""];

test("V8 takes the code that was made when the client was built, and the client with it says what it is", () => {
  expect(isTaken()).toBe(true);
  expect(version()).toEqual(asAlways());
});

test("code of another V8, of another source, and none at all: the client is compiled", () => {
  const whole = readFileSync(cache);
  const digest = whole.indexOf("\n") + 1;
  const ofOtherV8 = Buffer.from(whole);
  ofOtherV8.fill(0xff, digest, digest + 16);
  // Only the digest says that it is of another source: V8 compares the length.
  const ofOther = Buffer.from(whole);
  ofOther[digest - 2]! ^= 1;
  for (const bytes of [ofOtherV8, ofOther, Buffer.alloc(0), undefined]) {
    if (bytes === undefined) rmSync(cache);
    else writeFileSync(cache, bytes);
    expect(version()).toEqual(asAlways());
  }
});
