import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Directory } from "./directory.ts";
import { pipePath } from "./launch/stdio.ts";
import { Streams } from "./streams.ts";

test("an output ends with the container, although other processes fill its FIFO without a pause", async () => {
  const path = mkdtempSync(join(tmpdir(), "runt-streams-"));
  onTestFinished(() => rmSync(path, { recursive: true }));
  const fifo = pipePath(path, "stdout");
  execFileSync("mkfifo", ["-m", "600", fifo]);
  let end = (_: undefined) => {};
  const ended = new Promise<undefined>((resolve) => {
    end = resolve;
  });
  const directory = { path, record: join(path, "record.json"), id: "x" } as Directory;
  const output = new Streams(directory).output("stdout", { ended, hold: () => {} });
  const fillers = [1, 2].map((): ChildProcess => spawn("sh", ["-c", 'exec yes >"$1"', "sh", fifo], { stdio: "ignore" }));
  onTestFinished(() => {
    for (const one of fillers) one.kill("SIGKILL");
  });
  let size = 0;
  output.on("data", (chunk: Buffer) => {
    size += chunk.length;
    if (size > 1_000_000) end(undefined);
  });
  await once(output, "end");
  expect(size).toBeGreaterThan(1_000_000);
});
