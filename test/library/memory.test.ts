/** Executors whose files are in memory: nothing of their environment is anywhere else. */
import { spawnSync } from "node:child_process";
import { existsSync, lstatSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { Executor } from "../../src/executor/index.ts";
import { isRoot, useExecutors } from "./support.ts";

const SECRET = "gr3en-wh4le-17";

describe.skipIf(!isRoot)("executor: a directory in memory (needs root)", () => {
  const { directory, executor, script, stateDir } = useExecutors();
  const memoryDir = join(directory, "memory");
  const isBelow = (path: string) => spawnSync("grep", ["-r", "-q", SECRET, path]).status === 0;
  const listed = async (id: string) => (await Executor.list(stateDir)).find((one) => one.id === id)?.state;

  test("it is listed, adopted, and removed as any other, and what is written of it is there alone", async () => {
    const one = executor({ memoryDir });
    await one.launch(script("exec sleep 1000", { env: { TOKEN: SECRET } }));
    expect(lstatSync(join(stateDir, one.id)).isSymbolicLink()).toBe(true);
    expect([isBelow(stateDir), isBelow(memoryDir)]).toEqual([false, true]);
    expect(await listed(one.id)).toBe("running");
    const other = await Executor.adopt({ stateDir, id: one.id });
    const { output } = await other.exec({ cmd: "/bin/sh", args: ["-c", 'printf %s "$TOKEN"'] });
    expect(output.toString()).toBe(SECRET);
    for (const options of [{}, { memoryDir }])
      await expect(executor({ id: one.id, ...options }).launch(script("true"))).rejects.toMatchObject({ code: "id-exists" });
    expect(await listed(one.id)).toBe("running");
    await other.shutdown({ graceMs: 0 });
    expect(await listed(one.id)).toBe("exited");
    other.remove();
    expect([lstatSync(join(stateDir, one.id), { throwIfNoEntry: false }), isBelow(memoryDir)]).toEqual([undefined, false]);
  });

  test("what a boot has taken away is not there, and its id is free", async () => {
    const plain = executor();
    await plain.launch(script("exec sleep 1000"));
    symlinkSync(join(memoryDir, "lost"), join(stateDir, "lost"));
    expect(await listed("lost")).toBeUndefined();
    await expect(Executor.adopt({ stateDir, id: "lost" })).rejects.toMatchObject({ code: "id-unknown" });
    await executor({ id: "lost" }).launch(script("exec sleep 1000"));
    expect(lstatSync(join(stateDir, "lost")).isDirectory()).toBe(true);
    expect(existsSync(join(memoryDir, "lost"))).toBe(false);
  });
});
