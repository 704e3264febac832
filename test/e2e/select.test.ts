/** Flags that crun has beyond runc: --regex of kill and delete, --config. */
import { closeSync, existsSync, openSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { isRoot, shell, useHarness } from "../support/harness.ts";

describe.skipIf(!isRoot)("--regex (needs root)", () => {
  const { bundle, id, ok, root, runtime, until } = useHarness();

  async function containers(count: number): Promise<string[]> {
    const names: string[] = [];
    for (let index = 0; index < count; index++) {
      const name = id();
      await ok(["run", "-d", "-b", bundle((config) => shell(config, "trap 'exit 0' USR1; while :; do sleep 0.02; done")), name]);
      names.push(name);
    }
    return names;
  }
  const either = (...names: readonly string[]) => `^(${names.join("|")})$`;

  test("kill: those that run and whose id matches get the signal", async () => {
    const [first, second, third] = (await containers(3)) as [string, string, string];
    await ok(["kill", third, "KILL"]);
    await until(third, "stopped");
    await ok(["kill", "--regex", either(first, third), "USR1"]);
    await until(first, "stopped");
    expect(JSON.parse(await ok(["state", second])).status).toBe("running");
    await ok(["kill", "-r", `${second.slice(1)}$`, "KILL"]);
    await until(second, "stopped");
  });

  test("delete: a running one is told, the others are gone; by force all are", async () => {
    const [first, second] = (await containers(2)) as [string, string];
    await ok(["kill", first, "KILL"]);
    await until(first, "stopped");
    const result = await runtime(["delete", "--regex", either(first, second)]);
    expect(result.status).toBe(1);
    expect(result.stderr).toContain(`${second}: cannot delete container ${second} that is not stopped: running`);
    expect([existsSync(join(root, first)), existsSync(join(root, second))]).toEqual([false, true]);
    await ok(["delete", "--force", "--regex", either(first, second)]);
    expect(existsSync(join(root, second))).toBe(false);
  });

  test("nothing that matches is no error; what is no expression is", async () => {
    await ok(["kill", "--regex", "^no-such-", "KILL"]);
    await ok(["delete", "--force", "-r", "^no-such-"]);
    const result = await runtime(["kill", "--regex", "(", "KILL"]);
    expect(result.status).toBe(1);
    expect(result.stderr).toContain('--regex: invalid regular expression "("');
  });
});

describe.skipIf(!isRoot)("--config (needs root)", () => {
  const { bundle, directory, id, ok, runtime } = useHarness();
  const saying = (text: string) => bundle((config) => shell(config, `echo ${text}`));

  test("another file than config.json, from the current directory; the bundle stays the bundle", async () => {
    const path = saying("other");
    renameSync(join(path, "config.json"), join(directory, "other.json"));
    expect(await ok(["run", "--config", "other.json", "-b", path, id()], { cwd: directory })).toBe("other\n");
    expect(await ok(["run", "-f", join(directory, "other.json"), "-b", path, id()])).toBe("other\n");
    const name = id();
    await ok(["create", "-f", join(directory, "other.json"), "-b", path, name]);
    expect(JSON.parse(await ok(["state", name])).bundle).toBe(path);
    expect(await ok(["plan", "--config", join(directory, "other.json"), "-b", path])).toContain("echo other");
  });

  test("a descriptor of the shell, which is no regular file", async () => {
    const path = saying("piped");
    const config = join(directory, "piped.json");
    writeFileSync(config, readFileSync(join(path, "config.json")));
    const fd = openSync(config, "r");
    try {
      expect(await ok(["run", "--config", "/dev/fd/3", "-b", path, id()], { extra: [fd] })).toBe("piped\n");
    } finally {
      closeSync(fd);
    }
  });

  test("the name config.json is the bundle's, and what is not there is told", async () => {
    expect(await ok(["run", "--config", "config.json", "-b", saying("own"), id()], { cwd: directory })).toBe("own\n");
    const result = await runtime(["run", "--config", "/nonexistent.json", "-b", saying("x"), id()]);
    expect(result.status).toBe(1);
    expect(result.stderr).toContain("open /nonexistent.json: no such file or directory");
  });

  test("spec --file writes another file into the bundle, and never over one", async () => {
    await ok(["spec", "--file", "example.json", "-b", directory]);
    expect(JSON.parse(readFileSync(join(directory, "example.json"), "utf8")).ociVersion).toMatch(/^1\./);
    const again = await runtime(["spec", "-f", join(directory, "example.json")]);
    expect(again.status).toBe(1);
    expect(again.stderr).toContain("example.json exists. Remove it first");
  });
});
