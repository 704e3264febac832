/** --pidfd-socket: one descriptor of the process, whose end it tells. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { isRoot, isRunt, shell, useHarness } from "../support/harness.ts";
import { useReceivers } from "../support/receiver.ts";

describe.skipIf(!isRoot || !isRunt)("--pidfd-socket (needs root)", () => {
  const { bundle, directory, id, ok, root, runtime } = useHarness();
  const receive = useReceivers(directory);
  let count = 0;
  const path = () => join(directory, `pidfd-${++count}`);
  const pidOf = async (name: string): Promise<number> => JSON.parse(await ok(["state", name])).pid;

  test("create sends one of init", async () => {
    const [socket, name] = [path(), id()];
    const receiver = await receive("receive-pidfd", socket);
    await ok(["create", "--pidfd-socket", socket, "-b", bundle((config) => shell(config, "exec sleep 1000")), name]);
    expect(await receiver.said(1)).toEqual([`fds=1 payload=standard pid=${await pidOf(name)}`]);
    await ok(["kill", name, "KILL"]);
    expect((await receiver.said(2))[1]).toBe("ended");
  });

  test("run sends one in the foreground too", async () => {
    const socket = path();
    const receiver = await receive("receive-pidfd", socket);
    expect((await runtime(["run", "--pidfd-socket", socket, "-b", bundle((config) => shell(config, "exit 4")), id()])).status).toBe(4);
    expect(await receiver.said(2)).toEqual([expect.stringMatching(/^fds=1 payload=standard pid=-?\d+$/), "ended"]);
  });

  test("exec sends one of the further process, however short its life", async () => {
    const name = id();
    await ok(["run", "-d", "-b", bundle((config) => shell(config, "exec sleep 1000")), name]);
    const [socket, another] = [path(), path()];
    const receiver = await receive("receive-pidfd", socket);
    await ok(["exec", "--pidfd-socket", socket, name, "true"]);
    const [line, end] = await receiver.said(2);
    expect(line).toMatch(/^fds=1 payload=setns pid=-?\d+$/);
    expect(end).toBe("ended");
    const detached = await receive("receive-pidfd", another);
    const pidFile = join(directory, "exec.pid");
    await ok(["exec", "-d", "--pid-file", pidFile, "--pidfd-socket", another, name, "sleep", "1000"]);
    const pid = (await ok(["ps", "--format", "json", name])).trim();
    expect(JSON.parse(pid)).toContain(Number(/pid=(\d+)/.exec((await detached.said(1))[0] ?? "")?.[1]));
  });

  test("nobody listens: an error, and nothing is left", async () => {
    const name = id();
    const result = await runtime(["create", "--pidfd-socket", "/nonexistent", "-b", bundle(), name]);
    expect(result.status).toBe(1);
    expect(result.stderr).toContain("pidfd.send /nonexistent: no such file or directory");
    expect(existsSync(join(root, name))).toBe(false);
  });
});
