/** Needs root, for owners and device nodes. */
import { execFileSync } from "node:child_process";
import {
  chownSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { fillVolume, forgetFilling, makeScratch } from "./index.ts";

describe.skipIf(process.geteuid?.() !== 0)("what an image has for a new volume (needs root)", () => {
  let top = "";
  const at = (name: string) => join(top, name);
  const fill = () =>
    fillVolume({ volume: at("volume"), beside: at("beside"), from: at("image"), first: 0, signal: AbortSignal.timeout(60_000) });
  beforeEach(() => {
    top = mkdtempSync(join(tmpdir(), "runt-fill-"));
    makeScratch(at("volume"));
    mkdirSync(at("image"));
    const files =
      "echo seed > seed; ln seed again; mkdir -m 2750 sub; echo x > sub/x; ln -s /etc/passwd link; mkfifo fifo; mknod null c 1 3; truncate -s 64M hole; chown -hR 1000:1001 .; chmod 4755 seed; chmod 750 .";
    execFileSync("sh", ["-c", files], { cwd: at("image") });
  });
  afterEach(() => rmSync(top, { recursive: true }));
  const look = (name: string) => {
    const { uid, gid, mode } = lstatSync(at(name));
    return `${uid}:${gid} ${(mode & 0o7777).toString(8)}`;
  };

  test("it has content, owner and mode, links as links and with two names one file; devices stay away, and no hole becomes data", async () => {
    await fill();
    expect(readdirSync(at("volume")).sort()).toEqual(["again", "fifo", "hole", "link", "seed", "sub"]);
    expect([look("volume"), look("volume/seed"), look("volume/sub")]).toEqual(["1000:1001 750", "1000:1001 4755", "1000:1001 2750"]);
    expect([readlinkSync(at("volume/link")), readFileSync(at("volume/sub/x"), "utf8")]).toEqual(["/etc/passwd", "x\n"]);
    expect(statSync(at("volume/seed")).ino).toBe(statSync(at("volume/again")).ino);
    expect(statSync(at("volume/hole")).blocks).toBeLessThan(1000);
    expect(existsSync(at("beside"))).toBe(false);
    expect(readFileSync("/etc/passwd", "utf8")).toContain("root");
  });

  test("one that has files, or that somebody has given to a user, stays as it is", async () => {
    writeFileSync(at("volume/mine"), "");
    await fill();
    expect(readdirSync(at("volume"))).toEqual(["mine"]);
    rmSync(at("volume/mine"));
    chownSync(at("volume"), 5, 5);
    await fill();
    expect([readdirSync(at("volume")), look("volume")]).toEqual([[], "5:5 777"]);
  });

  test("after a crash during the copy it begins anew, after one while files were moved it goes on, and a copy of an earlier volume is forgotten", async () => {
    mkdirSync(at("beside/part/half"), { recursive: true });
    await fill();
    expect(readdirSync(at("volume"))).toHaveLength(6);
    // Some files are in the volume, others are still beside it.
    for (const path of ["volume", "beside"]) rmSync(at(path), { recursive: true, force: true });
    makeScratch(at("volume"));
    writeFileSync(at("volume/seed"), "");
    mkdirSync(at("beside/moving"), { recursive: true, mode: 0o750 });
    writeFileSync(at("beside/moving/rest"), "");
    await fill();
    expect([readdirSync(at("volume")).sort(), existsSync(at("beside"))]).toEqual([["rest", "seed"], false]);
    mkdirSync(at("beside/complete/old"), { recursive: true });
    await forgetFilling(at("beside"));
    expect(existsSync(at("beside"))).toBe(false);
  });

  test.each(["a file", "another owner"])(
    "what another container writes into it while the copy is made stays as it is: %s",
    async (what) => {
      const filling = fill();
      while (!existsSync(at("beside/part"))) await new Promise(setImmediate);
      if (what === "a file") writeFileSync(at("volume/seed"), "mine");
      else chownSync(at("volume"), 5, 5);
      await filling;
      if (what === "a file") expect([readFileSync(at("volume/seed"), "utf8"), look("volume")]).toEqual(["mine", "0:0 777"]);
      else expect([readdirSync(at("volume")), look("volume")]).toEqual([[], "5:5 777"]);
      expect([readdirSync(at("volume")).length <= 1, existsSync(at("beside"))]).toEqual([true, false]);
    },
  );

  test("a whole copy that a crash has left is not moved into a volume that somebody has used since", async () => {
    mkdirSync(at("beside/complete"), { recursive: true, mode: 0o750 });
    writeFileSync(at("beside/complete/seed"), "image");
    writeFileSync(at("volume/seed"), "mine");
    await fill();
    expect([readdirSync(at("volume")), readFileSync(at("volume/seed"), "utf8"), look("volume")]).toEqual([["seed"], "mine", "0:0 777"]);
    expect(existsSync(at("beside"))).toBe(false);
  });

  test("a name that somebody takes while the entries are moved is not replaced, and owner and mode stay", async () => {
    const [moving, volume] = [at("beside/moving"), at("volume")];
    mkdirSync(moving, { recursive: true, mode: 0o750 });
    for (const name of ["file", "below-file", "linked"]) writeFileSync(join(moving, name), "image");
    for (const name of ["full", "empty", "over-file", "begun", "new"]) {
      mkdirSync(join(moving, name));
      writeFileSync(join(moving, name, "image"), "");
    }
    writeFileSync(join(volume, "file"), "mine");
    writeFileSync(join(volume, "over-file"), "mine");
    for (const name of ["below-file", "full", "empty"]) mkdirSync(join(volume, name), { mode: 0o700 });
    writeFileSync(join(volume, "full/mine"), "");
    // A crash between the two steps of an entry has left these.
    linkSync(join(moving, "linked"), join(volume, "linked"));
    mkdirSync(join(volume, "begun"), { mode: 0o1000 });
    await fill();
    expect(["file", "over-file", "linked"].map((name) => readFileSync(join(volume, name), "utf8"))).toEqual(["mine", "mine", "image"]);
    expect(["below-file", "full", "empty", "begun", "new"].map((name) => readdirSync(join(volume, name)))).toEqual([
      [],
      ["mine"],
      [],
      ["image"],
      ["image"],
    ]);
    expect([look("volume"), look("volume/empty"), statSync(join(volume, "linked")).nlink, existsSync(at("beside"))]).toEqual([
      "0:0 777",
      "0:0 700",
      1,
      false,
    ]);
  });

  test("of two that fill it at once the second finds it filled; a copy that cannot be made leaves it empty, with the reason", async () => {
    await Promise.all([fill(), fill()]);
    expect(readdirSync(at("volume"))).toHaveLength(6);
    rmSync(at("volume"), { recursive: true });
    makeScratch(at("volume"));
    rmSync(at("image"), { recursive: true });
    await expect(fill()).rejects.toThrow("cp has failed");
    expect(readdirSync(at("volume"))).toEqual([]);
  });
});
