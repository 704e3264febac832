/** A state root has runt's mark where runt has made it; anywhere else nothing is removed that is not proven to be runt's. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Config } from "../support/config.ts";
import { call, isRoot, isRunt, RUNTIME, shell, useHarness } from "../support/harness.ts";

describe.skipIf(!isRoot || !isRunt)("the mark of a state root (needs root)", () => {
  const { bundle, directory, id } = useHarness();
  const runt = (root: string, ...args: readonly string[]) => call(directory, [RUNTIME, "--root", root, ...args]);
  const waiting = (config: Config) => shell(config, "exec sleep 1000");
  let count = 0;

  /** A directory with a file in a directory, as somebody's home has it. */
  function foreign(): string {
    const root = join(directory, `foreign-${++count}`);
    for (const path of ["photos/2025", "empty"]) mkdirSync(join(root, path), { recursive: true });
    for (const path of ["photos/one", "photos/2025/two", "note"]) writeFileSync(join(root, path), "precious");
    symlinkSync(join(root, "photos"), join(root, "link"));
    return root;
  }

  const treeOf = (root: string) => readdirSync(root, { recursive: true, encoding: "utf8" }).sort();

  /** Without a mark, as a runt before there were any has left it. */
  function forgetMark(root: string): void {
    const script = `import os, sys
for name in os.listxattr(sys.argv[1]): os.removexattr(sys.argv[1], name)`;
    execFileSync("python3", ["-c", script, root]);
  }

  /** Makes a container in this root. */
  async function container(root: string): Promise<string> {
    const name = id();
    expect(await runt(root, "create", "-b", bundle(waiting), name)).toMatchObject({ status: 0 });
    return name;
  }

  test("in a directory of somebody else's gc removes nothing and says why, and delete --force is an error", async () => {
    const root = foreign();
    const before = treeOf(root);
    const { status, stdout } = await runt(root, "gc", "--yes");
    expect(status).toBe(0);
    expect(stdout).toMatch(/^kept +state +photos +\S+ +not taken for remains: nothing in it is of runt's$/m);
    expect(stdout).toMatch(/^kept +state +empty +\S+ +not taken for remains: it is empty, and the state directory has no mark of runt's$/m);
    for (const name of ["photos", "empty", "link", "note"]) {
      const answer = await runt(root, "delete", "--force", name);
      expect([name, answer.status]).toEqual([name, 1]);
      expect(answer.stderr).toContain("nothing was removed");
    }
    expect(treeOf(root)).toEqual(before);
    expect(await runt(root, "delete", "--force", "absent")).toMatchObject({ status: 0, stderr: "" });
  });

  test("a container in it does not make it runt's, and can be removed all the same", async () => {
    const root = foreign();
    const before = treeOf(root);
    const name = await container(root);
    await runt(root, "gc", "--yes");
    expect(treeOf(root)).toEqual(expect.arrayContaining([...before, name]));
    expect((await runt(root, "delete", "--force", "empty")).status).toBe(1);
    expect(await runt(root, "delete", "--force", name)).toMatchObject({ status: 0, stderr: "" });
    expect(treeOf(root).filter((path) => !path.startsWith("@cache"))).toEqual(before);
  });

  test.each([
    ["that runt has made", () => {}],
    ["that an engine has made empty", (root: string) => mkdirSync(root, { mode: 0o711 })],
    ["that an older runt has made", (root: string) => forgetMark(root), "after"],
  ])("in a root %s, what a killed create leaves goes", async (_, prepare, when = "before") => {
    const root = join(directory, `own-${++count}`);
    if (when === "before") prepare(root);
    const name = await container(root);
    if (when === "after") prepare(root);
    const half = join(root, "half");
    mkdirSync(join(root, "empty"), { mode: 0o711 });
    mkdirSync(half, { mode: 0o711 });
    writeFileSync(join(half, "state.json.new"), readFileSync(join(root, name, "state.json"), "utf8").replaceAll(name, "half"));
    const { objects } = JSON.parse((await runt(root, "gc", "-f", "json", "--yes")).stdout);
    const states = objects.filter(({ kind }: { kind: string }) => kind === "state");
    expect(states.map(({ id: found, outcome }: { id: string; outcome: string }) => [found, outcome])).toEqual([
      ["empty", "removed"],
      ["half", "removed"],
    ]);
    mkdirSync(join(root, "empty"), { mode: 0o711 });
    expect(await runt(root, "delete", "--force", "empty")).toMatchObject({ status: 0, stderr: "" });
    expect(await runt(root, "delete", "--force", name)).toMatchObject({ status: 0, stderr: "" });
    expect(readdirSync(root).filter((entry) => entry !== "@cache")).toEqual([]);
  });

  test("what nothing proves to be runt's stays in runt's own root, too", async () => {
    const root = join(directory, `own-${++count}`);
    const name = await container(root);
    mkdirSync(join(root, "photos"));
    writeFileSync(join(root, "photos/one"), "precious");
    expect((await runt(root, "gc", "--yes")).stdout).toContain("nothing in it is of runt's");
    expect(await runt(root, "delete", "--force", "photos")).toMatchObject({ status: 1 });
    expect(existsSync(join(root, "photos/one"))).toBe(true);
    await runt(root, "delete", "--force", name);
  });

  test("where --root is not below the default one gc removes nothing without --yes, and says so", async () => {
    const root = join(directory, `own-${++count}`);
    const name = await container(root);
    mkdirSync(join(root, "empty"), { mode: 0o711 });
    const { status, stdout } = await runt(root, "gc");
    expect(status).toBe(0);
    expect(stdout).toMatch(/^found +state +empty /m);
    expect(stdout).toContain(`nothing was removed: ${root} is not below /run/runt; gc --yes removes what was found\n`);
    expect(JSON.parse((await runt(root, "gc", "-f", "json")).stdout).dryRun).toBe(true);
    expect(existsSync(join(root, "empty"))).toBe(true);
    expect((await runt(root, "gc", "--yes")).stdout).toMatch(/^removed +state +empty /m);
    await runt(root, "delete", "--force", name);
  });
});
