/** Sockets whose owner neither accepts nor reads: the verb that has to tell him something ends with an error, and leaves nothing. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import type { Config } from "../support/config.ts";
import { isRoot, isRunt, SLOW, shell, useHarness } from "../support/harness.ts";
import { program } from "../support/programs.ts";

/** Of native-bindings/host/sockets.c. */
const LIMIT_MS = 10_000;

describe.skipIf(!isRoot || !isRunt)("a peer that does not answer (needs root)", () => {
  const { bundle, directory, id, root, runtime } = useHarness();
  let peer: ChildProcess | undefined;
  let count = 0;

  afterEach(() => void peer?.kill("SIGKILL"));

  async function fullSocket(): Promise<string> {
    const path = join(directory, `full-${++count}`);
    const child = spawn(program("full-socket"), [path], { stdio: ["pipe", "pipe", "inherit"] });
    peer = child;
    await new Promise((done) => child.stdout.once("data", done));
    return path;
  }

  const listening = (listenerPath: string) => (config: Config) => {
    shell(config, "exec sleep 1000");
    config.linux["seccomp"] = {
      defaultAction: "SCMP_ACT_ALLOW",
      listenerPath,
      syscalls: [{ names: ["getcwd"], action: "SCMP_ACT_NOTIFY" }],
    };
  };

  test("linux.seccomp.listenerPath: create says so in bounded time", async () => {
    const socket = await fullSocket();
    const name = id();
    const began = Date.now();
    const { status, stderr } = await runtime(["create", "-b", bundle(listening(socket)), name]);
    expect(Date.now() - began).toBeLessThan(LIMIT_MS + 5_000 * SLOW);
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: expect.stringMatching(/seccomp.notify: failed to connect with seccomp agent .*timed out/),
    });
    expect(existsSync(join(root, name))).toBe(false);
  });
});
