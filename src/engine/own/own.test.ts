/** Files of somebody else in the place of the engine's own files. Mounts need root. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { isMountPoint, mountsBelow, mountsIn, unmount, unmountBelow } from "../../node/index.ts";
import { makeScratch, mountMemory, removeScratch, unmountMemory } from "../volumes/index.ts";
import { removeOwnTree } from "./index.ts";

const isRoot = process.geteuid?.() === 0;
let directory = "";
const at = (name: string) => join(directory, name);
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "runt-own-"));
  // On a host with shared mounts, a mount below a directory that is bound to itself would appear twice.
  if (isRoot) for (const how of [["--bind", directory], ["--make-private"]]) execFileSync("mount", [...how, directory]);
  for (const name of ["own/deep", "theirs"]) mkdirSync(at(name), { recursive: true });
  writeFileSync(at("theirs/precious"), "precious");
});
afterEach(() => {
  for (const path of mountsIn(directory).reverse()) execFileSync("umount", [path]);
  rmSync(directory, { recursive: true });
});

const theirs = () => [readdirSync(at("theirs")), readFileSync(at("theirs/precious"), "utf8")];
const WHOLE = [["precious"], "precious"];

describe.skipIf(!isRoot)("mounts (needs root)", () => {
  const bind = (from: string, to: string) => execFileSync("mount", ["--bind", at(from), at(to)]);

  test.each(["own", "own/deep"])("nothing is removed of what is mounted at %s, by either way of removing", async (place) => {
    bind("theirs", place);
    expect(() => removeOwnTree(at("own"))).toThrow("something is mounted");
    await expect(removeScratch(at("own"))).rejects.toThrow("something is mounted");
    expect(theirs()).toEqual(WHOLE);
    await unmountBelow(directory);
    removeOwnTree(at("own"));
    expect([existsSync(at("own")), theirs()]).toEqual([false, WHOLE]);
  });

  test("a link in the place of a mount point does not lead to a mount of somebody else's", async () => {
    bind("theirs", "theirs");
    symlinkSync(at("theirs"), at("own/link"));
    expect(isMountPoint(at("own/link"))).toBe(false);
    await unmount(at("own/link"));
    await unmountMemory(at("own/link"));
    mkdirSync(at("theirs/below"));
    bind("own/deep", "theirs/below");
    await unmountBelow(at("own/link"));
    expect(mountsBelow(directory)).toEqual([at("theirs"), at("theirs/below")]);
    removeOwnTree(at("own"));
    expect(readFileSync(at("theirs/precious"), "utf8")).toBe("precious");
  });

  test("what is no tmpfs is not taken for memory: secrets would be on a disk", async () => {
    bind("theirs", "own/deep");
    await expect(mountMemory(at("own/deep"), 4096)).rejects.toThrow("and not this volume");
    execFileSync("umount", [at("own/deep")]);
    for (let time = 0; time < 2; time++) await mountMemory(at("own/deep"), 4096);
    expect(mountsBelow(directory)).toEqual([at("own/deep")]);
  });
});

test("a link in the place of a volume gives nobody else's directory another mode", () => {
  symlinkSync(at("theirs"), at("own/volume"));
  const before = execFileSync("stat", ["-c", "%a %u", at("theirs")], { encoding: "utf8" });
  expect(() => makeScratch(at("own/volume"))).toThrow("is not a directory");
  expect(execFileSync("stat", ["-c", "%a %u", at("theirs")], { encoding: "utf8" })).toBe(before);
});
