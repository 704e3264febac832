/** Attacks on host directories whose paths an untrusted user has chosen. Needs root for mounts. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { isMountPoint, unmountBelow } from "../../node/index.ts";
import { bindWithin, unbind } from "./within.ts";

describe.skipIf(process.geteuid?.() !== 0)("sources of others (needs root)", () => {
  let directory = "";
  const at = (name: string) => join(directory, name);
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "runt-within-"));
    for (const name of ["given/a/b", "secret", "own/state", "targets"]) mkdirSync(at(name), { recursive: true });
    writeFileSync(at("secret/key"), "secret");
    writeFileSync(at("given/a/file"), "given");
    writeFileSync(at("own/admin.sock"), "");
  });
  afterEach(async () => {
    await unmountBelow(directory);
    rmSync(directory, { recursive: true, force: true });
  });
  const bind = (path: string, more: object = {}) =>
    bindWithin({ path, type: undefined, allowed: [at("given")], own: [at("own")], ...more }, at("targets/t"));

  test("what is below is bound, as a directory and as a file, once; and what was bound stays when it is unbound", async () => {
    for (const path of ["given", "given/a", "given/a/file"]) {
      await bind(at(path));
      await bind(at(path));
      expect(isMountPoint(at("targets/t"))).toBe(true);
      await unbind(at("targets/t"));
      await unbind(at("targets/t"));
      expect(existsSync(at("targets/t"))).toBe(false);
    }
    expect(readFileSync(at("given/a/file"), "utf8")).toBe("given");
  });

  test.each([
    ["given/../secret", ".. in it"],
    ["secret", "is below no directory"],
    ["givenother", "is not there"],
    ["", "is below no directory"],
  ])("%j is refused", async (path, message) => {
    await expect(bind(path === "" ? directory : `${directory}/${path}`)).rejects.toThrow(message);
    expect(existsSync(at("targets/t"))).toBe(false);
  });

  test("a symbolic link is not followed, wherever it is on the way, and neither is a directory that is given away through one", async () => {
    symlinkSync(at("secret"), at("given/link"));
    await expect(bind(at("given/link"))).rejects.toThrow("is a symbolic link");
    await expect(bind(at("given/link/key"))).rejects.toThrow("is a symbolic link");
    symlinkSync(at("given"), at("alias"));
    await expect(bind(at("given/a"), { allowed: [at("alias")] })).rejects.toThrow("is below no directory");
  });

  test("what is missing is made below what is given away only, and not in what is the engine's", async () => {
    const make = (path: string) => bind(at(path), { type: "DirectoryOrCreate", allowed: [at("given"), at("own")] });
    await make("given/new/deep");
    expect(isMountPoint(at("targets/t"))).toBe(true);
    await unbind(at("targets/t"));
    expect(statSync(at("given/new/deep")).mode & 0o777).toBe(0o755);
    await expect(make("secret/new")).rejects.toThrow("secret/new is not there");
    await expect(make("own/state/new")).rejects.toThrow("own/state/new is not there");
    symlinkSync(at("secret"), at("given/link"));
    await expect(make("given/link/new")).rejects.toThrow("is a symbolic link");
    symlinkSync(at("secret/none"), at("given/dangling"));
    await expect(make("given/dangling")).rejects.toThrow("is a symbolic link");
    expect(["secret/new", "secret/none", "own/state/new", "targets/t"].map((path) => existsSync(at(path)))).toEqual([
      false,
      false,
      false,
      false,
    ]);
  });

  test("what takes its place after it was looked at is not what is mounted", async () => {
    // Another process keeps replacing the directory by a link to the secret, and back.
    symlinkSync(at("secret"), at("given/evil"));
    const swap = `import os\nwhile True:\n  for pair in (("a","x"),("evil","a"),("a","evil"),("x","a")): os.rename(*("${at("given")}/"+one for one in pair))`;
    const { spawn } = await import("node:child_process");
    const attacker = spawn("python3", ["-c", swap], { stdio: "ignore" });
    try {
      let bound = 0;
      for (let round = 0; round < 60; round++) {
        const done = await bind(at("given/a")).then(
          () => true,
          () => false,
        );
        if (!done) continue;
        bound++;
        expect(existsSync(at("targets/t/key"))).toBe(false);
        await unbind(at("targets/t"));
      }
      expect(bound).toBeGreaterThan(0);
    } finally {
      const ended = new Promise((resolve) => attacker.once("exit", resolve));
      attacker.kill("SIGKILL");
      await ended;
    }
  });

  test("what is the engine's is nobody else's: itself, what is in it, what it is in, and under another name", async () => {
    const everything = { allowed: [directory, "/"] };
    for (const path of ["own", "own/state", "own/admin.sock"]) await expect(bind(at(path), everything)).rejects.toThrow("the engine's own");
    await expect(bind(directory, everything)).rejects.toThrow("the engine's own");
    mkdirSync(at("given/other"));
    execFileSync("mount", ["--bind", at("own"), at("given/other")]);
    await expect(bind(at("given/other"))).rejects.toThrow("the engine's own");
    await expect(bind(at("given/other/state"))).rejects.toThrow("the engine's own");
  });

  test("a mount is found and taken away also by a path with a link in it: what is bound there is not emptied", async () => {
    symlinkSync(directory, at("through"));
    await bindWithin({ path: at("given/a"), type: undefined, allowed: [at("given")], own: [] }, at("through/targets/t"));
    expect(isMountPoint(at("through/targets/t"))).toBe(true);
    expect(isMountPoint(at("targets/t"))).toBe(true);
    await unmountBelow(at("through/targets"));
    expect(isMountPoint(at("targets/t"))).toBe(false);
    rmSync(at("through"), { recursive: true });
    expect(readFileSync(at("given/a/file"), "utf8")).toBe("given");
  });

  test("a mount of somebody else's at the target is not taken for the source, and a link there is not followed", async () => {
    mkdirSync(at("targets/t"));
    execFileSync("mount", ["--bind", at("secret"), at("targets/t")]);
    await bind(at("given/a"));
    expect([existsSync(at("targets/t/file")), existsSync(at("targets/t/key"))]).toEqual([true, false]);
    await unbind(at("targets/t"));
    execFileSync("mount", ["--bind", at("secret"), at("secret")]);
    symlinkSync(at("secret"), at("targets/t"));
    await bind(at("given/a"));
    expect(existsSync(at("secret/file"))).toBe(false);
    await unbind(at("targets/t"));
    symlinkSync(at("secret"), at("targets/t"));
    await unbind(at("targets/t"));
    expect([existsSync(at("targets/t")), isMountPoint(at("secret")), readFileSync(at("secret/key"), "utf8")]).toEqual([
      false,
      true,
      "secret",
    ]);
  });

  test("a file of another kind is refused, and what is not bound is not taken away", async () => {
    await expect(bind(at("given/a"), { type: "File" })).rejects.toThrow("is not a file");
    mkdirSync(at("targets/t"));
    writeFileSync(at("targets/t/mine"), "");
    await expect(unbind(at("targets/t"))).rejects.toThrow("ENOTEMPTY");
    renameSync(at("targets/t"), at("targets/u"));
  });
});
