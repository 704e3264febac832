/** Symbolic links on the way to a source: those of the system are followed, and no one that a container or another user could have made. */
import { type ChildProcess, spawn } from "node:child_process";
import {
  chmodSync,
  chownSync,
  closeSync,
  fstatSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { OF_SYSTEM, openSource } from "./index.ts";
import { holdsFollowed } from "./links.ts";

const OTHER = 65_534;

describe.skipIf(process.geteuid?.() !== 0)("links on the way to a source (needs root)", () => {
  let directory = "";
  const at = (name: string) => join(directory, name);
  // Below /run only root can make entries, as below /etc; everybody can below /tmp.
  beforeEach(() => {
    directory = mkdtempSync("/run/runt-links-");
    mkdirSync(at("real/in"), { recursive: true });
    writeFileSync(at("real/in/file"), "");
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  const opened = (
    path: string,
    { upTo = path, type, links = { directories: [directory], trees: [], known: {} } }: Partial<Options> = {},
  ) => {
    const { fd, path: real } = openSource(path, type, { follow: { upTo, links } });
    try {
      return { real, isThat: fstatSync(fd).ino === statSync(real).ino };
    } finally {
      closeSync(fd);
    }
  };
  interface Options {
    readonly upTo: string;
    readonly type: Parameters<typeof openSource>[1];
    readonly links: typeof OF_SYSTEM;
  }
  const follows = (path: string, real: string, options?: Partial<Options>) =>
    expect(opened(at(path), options), path).toEqual({ real: at(real), isThat: true });
  const refuses = (path: string, link: string, options?: Partial<Options>) =>
    expect(() => opened(at(path), options), path).toThrow(`${at(link)} is a symbolic link`);

  test("links of the system lead to what is mounted: absolute, relative, in the middle, at the end, and to further links", () => {
    for (const [name, target] of [
      ["absolute", at("real/in")],
      ["relative", "./real//in/../in"],
      ["second", "relative"],
      ["up", "real/in/../../real"],
    ] as const)
      symlinkSync(target, at(name));
    for (const name of ["absolute", "relative", "second", "up/in"]) {
      follows(name, "real/in");
      follows(`${name}/file`, "real/in/file", { type: "File" });
    }
    // The rest of the path is made behind a link, as in /var/run/new. Nothing is made at the end of a link.
    follows("absolute/new/deep", "real/in/new/deep", { type: "DirectoryOrCreate" });
    symlinkSync("real/none", at("dangling"));
    for (const path of ["dangling", "dangling/new"])
      expect(() => opened(at(path), { type: "DirectoryOrCreate" })).toThrow(`${at("real/none")} is not there`);
  });

  test("/var/run and /etc/localtime, where the host has them as links", () => {
    for (const path of ["/var/run", "/etc/localtime", "/lib"]) {
      if (statSync(path, { throwIfNoEntry: false }) === undefined) continue;
      const { isThat } = opened(path, { links: OF_SYSTEM });
      expect(isThat, path).toBe(true);
    }
  });

  test("a link of another user, in a directory that others can write, or behind one, is not followed", () => {
    symlinkSync("real/in", at("link"));
    lchownSync(at("link"), OTHER, OTHER);
    refuses("link/file", "link");
    lchownSync(at("link"), 0, 0);
    follows("link", "real/in");
    for (const mode of [0o777, 0o775, 0o1777, 0o757]) {
      chmodSync(directory, mode);
      refuses("link", "link");
    }
    chmodSync(directory, 0o755);
    chownSync(directory, OTHER, 0);
    refuses("link", "link");
    chownSync(directory, 0, 0);
    // Of two directories of root, the first one is everybody's: the second one may be another one by now.
    mkdirSync(at("open/inner"), { recursive: true });
    symlinkSync("../../real/in", at("open/inner/link"));
    const links = { directories: [at("open/inner")], trees: [], known: {} };
    follows("open/inner/link", "real/in", { links });
    chmodSync(at("open"), 0o777);
    refuses("open/inner/link", "open/inner/link", { links });
  });

  test("a link that root of a container can have made is not followed: it belongs to root, in a directory that is mounted", () => {
    symlinkSync("/etc", at("real/planted"));
    refuses("real/planted/passwd", "real/planted");
    expect(() => openSource(at("real/planted"), undefined, { follow: { upTo: at("real/planted"), links: OF_SYSTEM } })).toThrow(
      "is a symbolic link",
    );
    // Directories of the system that containers have as volumes.
    for (const [directory, name] of [
      ["/usr/share/nginx/html", "site"],
      ["/usr/src/app", "x"],
      ["/usr/local/bin", "x"],
      ["/etc/ssl", "certs"],
      ["/dev", "shm"],
      ["/var/www", "html"],
    ] as const)
      expect(holdsFollowed(OF_SYSTEM, directory, name, "/root"), directory).toBe(false);
    expect(["/root", "/run/systemd/journal/dev-log"].map((text) => holdsFollowed(OF_SYSTEM, "/dev", "log", text))).toEqual([false, true]);
    // Below a volume its containers make the links.
    symlinkSync("real", at("volume"));
    symlinkSync("real/in", at("inner"));
    follows("volume/in", "real/in", { upTo: at("volume") });
    refuses("inner", "inner", { upTo: directory });
  });

  test("links that lead in a circle, and to /proc, end with an error", () => {
    symlinkSync("b", at("a"));
    symlinkSync("a", at("b"));
    expect(() => opened(at("a"))).toThrow("leads through more than 40 symbolic links");
    symlinkSync("/proc/self/root/etc", at("process"));
    expect(() => opened(at("process"))).toThrow("/proc/self is a symbolic link");
    expect(() => opened(`${directory}/real/../real`)).toThrow("has .. in it");
  });

  test("what is returned while links are exchanged is one of their targets, and its path has no link", async () => {
    for (const name of ["one", "two"]) mkdirSync(at(name));
    symlinkSync("one", at("current"));
    // Root lets a link lead to one directory and to the other. For a moment a directory has its name.
    const swap = `import os
while True:
  for target in ("one", "two"):
    os.symlink(target, "next"); os.rename("next", "current")
  os.rename("current", "aside")
  os.rename("one", "current"); os.rename("current", "one"); os.rename("aside", "current")`;
    const attacker = spawn("python3", ["-c", swap], { cwd: directory, stdio: "ignore" });
    try {
      const seen = new Set<string>();
      for (let round = 0; round < 20_000 && seen.size < 2; round++) await look(seen);
      for (let round = 0; round < 2_000; round++) await look(seen);
      expect([...seen].sort()).toEqual(["one", "two"]);
    } finally {
      await ended(attacker);
    }
  });

  async function look(seen: Set<string>): Promise<void> {
    const inodes = new Map(["one", "two"].map((name) => [statSync(at(name), { throwIfNoEntry: false })?.ino, name]));
    try {
      const links = { directories: [directory], trees: [], known: {} };
      const { fd, path } = openSource(at("current"), undefined, { follow: { upTo: at("current"), links } });
      const name = inodes.get(fstatSync(fd).ino);
      closeSync(fd);
      expect([at("one"), at("two"), at("current")]).toContain(path);
      if (name !== undefined) seen.add(name);
    } catch (error) {
      expect((error as Error).message).toMatch(/is not there|was replaced/);
    }
  }
});

function ended(child: ChildProcess): Promise<unknown> {
  const end = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGKILL");
  return end;
}
