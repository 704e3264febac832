/** One limit for nested documents, whoever reads them: at it everything works, beyond it every verb has the same words and changes nothing. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { call } from "../support/call.ts";
import { hasControllers } from "../support/cgroups.ts";
import { isRoot, isRunt, RUNTIME, shell, useHarness } from "../support/harness.ts";

const LIMIT = 256;
const WORDS = `nested deeper than ${LIMIT} levels`;

describe.skipIf(!isRoot || !isRunt)("nested documents (needs root)", () => {
  const { bundle, directory, id, ok, runtime, until } = useHarness();
  /** `levels` of the document are its own. */
  const nested = (document: object, depth: number, levels = 1) =>
    JSON.stringify({ ...document, nested: "DEPTH" }).replace(
      '"DEPTH"',
      () => `${"[".repeat(depth - levels)}${depth % 2 ? '"["' : ""}${"]".repeat(depth - levels)}`,
    );
  const file = (name: string, text: string) => {
    const path = join(directory, name);
    writeFileSync(path, text);
    return path;
  };
  const deepBundle = (depth: number) => {
    const path = bundle((config) => shell(config, "exit 3"));
    const config = join(path, "config.json");
    writeFileSync(config, nested(JSON.parse(readFileSync(config, "utf8")), depth));
    return path;
  };
  async function running(): Promise<string> {
    const name = id();
    await ok(["run", "-d", "-b", bundle((config) => shell(config, "exec sleep 60")), name]);
    await until(name, "running");
    return name;
  }

  /** A reader. */
  async function memoryLimit(name: string): Promise<() => string> {
    const { pid } = JSON.parse(await ok(["state", name]));
    const cgroup = /:memory:(.*)/.exec(readFileSync(`/proc/${pid}/cgroup`, "utf8"))?.[1];
    if (cgroup !== undefined) return () => readFileSync(`/sys/fs/cgroup/memory${cgroup}/memory.limit_in_bytes`, "utf8");
    const path = /^0::(.*)/m.exec(readFileSync(`/proc/${pid}/cgroup`, "utf8"))?.[1];
    return () => readFileSync(`/sys/fs/cgroup${path}/memory.max`, "utf8");
  }

  const CASES: readonly (readonly [string, (depth: number) => Promise<readonly string[]>, number])[] = [
    ["validate", async (depth) => ["validate", "--host", "none", deepBundle(depth)], 0],
    ["validate of the host", async (depth) => ["validate", deepBundle(depth)], 0],
    ["plan", async (depth) => ["plan", "-b", deepBundle(depth)], 0],
    ["create", async (depth) => ["create", "-b", deepBundle(depth), id()], 0],
    ["run", async (depth) => ["run", "-b", deepBundle(depth), id()], 3],
    ["update", async (depth) => ["update", "-r", file("resources.json", nested({ memory: { limit: 1e8 } }, depth)), await running()], 0],
    ["exec", async (depth) => ["exec", "-p", file("process.json", nested({ cwd: "/", args: ["/bin/true"] }, depth)), await running()], 0],
    [
      "mounts add",
      async (depth) => {
        const mounts = [{ destination: "/dev/shm/x", type: "bind", source: directory, options: ["bind"] }];
        return ["mounts", "add", await running(), file("mounts.json", nested({ mounts }, depth))];
      },
      0,
    ],
  ];
  test.each(CASES.filter(([verb]) => verb !== "update" || hasControllers))("%s", async (_, command, status) => {
    for (const depth of [LIMIT - 1, LIMIT]) {
      const result = await runtime(await command(depth));
      expect({ depth, status: result.status, stderr: result.stderr }).toEqual({ depth, status, stderr: "" });
    }
    for (const depth of [LIMIT + 1, 10_000, 1_000_000]) {
      const result = await runtime(await command(depth));
      expect(result.status, `${depth}: ${result.stdout}`).not.toBe(0);
      expect(result.stdout + result.stderr).toContain(WORDS);
    }
  });

  test("restore", async () => {
    const result = await runtime(["restore", "--image-path", directory, "-b", deepBundle(LIMIT + 1), id()]);
    expect(result).toMatchObject({ status: 1, stderr: expect.stringContaining(WORDS) });
  });

  test.skipIf(!hasControllers)("what is deep where only update looks: the limit is what it was", async () => {
    const name = await running();
    const limit = await memoryLimit(name);
    const before = limit();
    const resources = nested({ memory: { limit: 1e8 } }, 10_000);
    expect((await runtime(["update", "-r", file("deep.json", resources), name])).stderr).toContain(WORDS);
    // Of a build that had no such limit.
    const kept = join(directory, "root", name, "config.json");
    writeFileSync(kept, nested(JSON.parse(readFileSync(kept, "utf8")), 10_000));
    expect((await runtime(["update", "--memory", "100M", name])).stderr).toContain(WORDS);
    expect(limit()).toBe(before);
  });

  test.skipIf(!hasControllers)("update that cannot write down what it has been asked for leaves the limit, and says so", async () => {
    const name = id();
    const path = bundle((config) => {
      config.annotations = { long: "x".repeat(8192) };
      shell(config, "exec sleep 60");
    });
    await ok(["run", "-d", "-b", path, name]);
    const limit = await memoryLimit(name);
    const before = limit();
    // No file may grow further: cgroup files are not meant by that.
    const full = ["prlimit", "--fsize=2048", RUNTIME, "--root", join(directory, "root"), "update", "--memory", "100M", name];
    const result = await call(directory, full);
    expect(result).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/config\.json\.new: file too large: the limits stay as they are/),
    });
    expect(limit()).toBe(before);
    await ok(["update", "--memory", "100M", name]);
    expect(limit()).not.toBe(before);
  });
});
