/** Processes that ended and are still there, or whose pid came back as another's: what a stored pid can be taken in by. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { program } from "../support/programs.ts";
import * as assert from "./assert.ts";
import { type Container, waitFor } from "./container.ts";
import type { Context } from "./context.ts";

/** Start a helper that says one line and then waits for the end of its stdin, which comes with the end of the test. */
async function helper(c: Context, file: string, args: readonly string[]): Promise<string> {
  const child = spawn(file, args, { stdio: ["pipe", "pipe", "inherit"] });
  const ended = once(child, "exit");
  c.cleanup(async () => {
    child.stdin.end();
    await ended;
  });
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
  });
  await waitFor(() => text.endsWith("\n") || child.exitCode !== null, `a word of ${file}`);
  return text.trim();
}

/** A container whose process was killed, and whose parent does not reap it. */
export async function unreaped(c: Context): Promise<Container> {
  const bundle = c.bundle();
  const container = c.container(bundle);
  const create = [c.runtime.path, "--root", c.root, "create", "--bundle", bundle, container.id];
  assert.equal(await helper(c, program("subreaper"), create), "0", "create");
  const pid = await container.pid();
  await container.start();
  await container.kill("KILL");
  await waitFor(() => /^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8")), "a zombie");
  return container;
}

/** Give a pid that is free to a process of the host. */
export async function otherProcessWithPid(c: Context, pid: number): Promise<void> {
  assert.equal(await helper(c, program("take-pid"), [String(pid)]), String(pid));
}
