/** How a file system or a bound tree looks in the container when it is mounted with some options. */
import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as assert from "./assert.ts";
import type { Context } from "./context.ts";
import type { MountEntry } from "./observe.ts";

export const AT = "/mnt";

/** What a new tmpfs with these options looks like in the container. */
export async function ofTmpfs(c: Context, options: readonly string[]): Promise<MountEntry> {
  const container = await c.create((config) =>
    config.mounts.push({ destination: AT, type: "tmpfs", source: "tmpfs", options: [...options] }),
  );
  const found = await container.mount(AT);
  await container.delete("--force");
  return found;
}

/** A tmpfs on the host, with these options, and another one in it at sub. */
export function hostTree(c: Context, options: string, below: string = options): string {
  const top = c.scratch("tree");
  const mount = (at: string, text: string) => {
    execFileSync("mount", ["-t", "tmpfs", "-o", text, "tmpfs", at]);
    c.cleanup(() => void execFileSync("umount", ["-l", at]));
  };
  mount(top, "rw");
  mkdirSync(join(top, "sub"));
  mount(join(top, "sub"), "rw");
  for (const [at, text] of [
    [join(top, "sub"), below],
    [top, options],
  ] as const) {
    if (text !== "rw") execFileSync("mount", ["-o", `remount,bind,${text}`, at]);
  }
  return top;
}

/** A tree of the host bound with these options: how its top and its submount look in the container. */
export async function ofTree(c: Context, source: string, options: readonly string[]): Promise<{ top: MountEntry; sub: MountEntry }> {
  const container = await c.create((config) => config.mounts.push({ destination: AT, type: "none", source, options: [...options] }));
  const mounts = await container.mounts();
  const found = (target: string) => {
    const entry = mounts.filter((one) => one.target === target).at(-1);
    assert.ok(entry !== undefined, `${target} is not mounted`);
    return entry;
  };
  const both = { top: found(AT), sub: found(`${AT}/sub`) };
  await container.delete("--force");
  return both;
}

/** The flag is in the options of a new file system, and is not without the word. */
export function sets(word: string, flag: string) {
  return async (c: Context) => {
    assert.ok(!(await ofTmpfs(c, [])).options.includes(flag), `${flag} is there without the word`);
    assert.ok((await ofTmpfs(c, [word])).options.includes(flag), `${word} does not set ${flag}`);
  };
}

/** The word takes the flag back: from an earlier word, and from a bound mount that has it. */
export function clears(word: string, flag: string) {
  return async (c: Context) => {
    assert.ok(!(await ofTmpfs(c, [flag, word])).options.includes(flag), `${word} does not clear ${flag}`);
    const tree = hostTree(c, flag);
    assert.ok((await ofTree(c, tree, ["rbind"])).top.options.includes(flag), `a bind loses ${flag}`);
    const { top, sub } = await ofTree(c, tree, ["rbind", word]);
    assert.ok(!top.options.includes(flag), `${word} does not clear ${flag} of a bound mount`);
    assert.ok(sub.options.includes(flag), `${word} reaches the submount`);
  };
}

/** Recursive words, on a bound tree: flag of the submount and of the top. */
export function setsBelow(word: string, flag: string) {
  return async (c: Context) => {
    const { top, sub } = await ofTree(c, hostTree(c, "rw"), ["rbind", word]);
    assert.ok(top.options.includes(flag) && sub.options.includes(flag), `${word} does not set ${flag} on top and below`);
  };
}

export function clearsBelow(word: string, flag: string) {
  return async (c: Context) => {
    const { top, sub } = await ofTree(c, hostTree(c, flag), ["rbind", word]);
    assert.ok(!top.options.includes(flag) && !sub.options.includes(flag), `${word} does not clear ${flag} on top and below`);
  };
}

/** Access times: which of the three modes a mount has. */
export function accessTime({ options }: MountEntry): string {
  return ["noatime", "relatime"].find((mode) => options.includes(mode)) ?? "strictatime";
}

/** Taken without failure and without a trace in the options of the file system. */
export function accepted(word: string) {
  return async (c: Context) => {
    const { options, superOptions } = await ofTmpfs(c, [word]);
    assert.ok(!options.includes(word) && !superOptions.includes(word), `${word} reached the file system`);
    await takenByBind(c, word);
  };
}

/** No file system could take the word from a bind mount, which has no data of its own. */
export async function takenByBind(c: Context, word: string): Promise<void> {
  const { top } = await ofTree(c, hostTree(c, "rw"), ["rbind", word]);
  assert.equal(top.fstype, "tmpfs");
}

/** A word of the superblock: shown there, not without it, and taken back by its opposite. */
export async function superblock(c: Context, word: string, opposite?: string): Promise<void> {
  assert.ok(!(await ofTmpfs(c, [])).superOptions.includes(word));
  assert.ok((await ofTmpfs(c, [word])).superOptions.includes(word), `${word} is not in force`);
  if (opposite !== undefined)
    assert.ok(!(await ofTmpfs(c, [word, opposite])).superOptions.includes(word), `${opposite} does not take back ${word}`);
  for (const one of [word, ...(opposite === undefined ? [] : [opposite])]) await takenByBind(c, one);
}

/** Tags of a new tmpfs with this word; and of a bound tree, where the parent's propagation is not in the way. */
export async function tagsOf(c: Context, word: string): Promise<{ top: readonly string[]; sub: readonly string[] }> {
  const tree = hostTree(c, "rw");
  execFileSync("mount", ["--make-rshared", tree]);
  const { top, sub } = await ofTree(c, tree, ["rbind", word]);
  return { top: top.tags, sub: sub.tags };
}

export const tagged = (tags: readonly string[], kind: string) => tags.some((tag) => tag.startsWith(kind));

/** Run a command on a file of a bound directory; "" or the shell's complaint. */
export function inBound(c: Context, source: string, options: readonly string[], command: string): Promise<string> {
  return c.output(`{ ${command}; } 2>&1; true`, (config) =>
    config.mounts.push({ destination: AT, type: "none", source, options: ["rbind", ...options] }),
  );
}

export function withFile(c: Context): string {
  const tree = hostTree(c, "rw");
  for (const at of [tree, join(tree, "sub")]) {
    writeFileSync(join(at, "program"), "#!/bin/sh\necho ran\n", { mode: 0o755 });
    writeFileSync(join(at, "file"), "content\n");
    symlinkSync("file", join(at, "link"));
  }
  return tree;
}
