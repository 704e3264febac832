import { expect, test } from "vitest";
import { runProgram } from "./run-program.ts";

const shell = (script: string, more: object = {}) => runProgram("sh", ["-c", script], { stdio: ["ignore", "pipe", "pipe"], ...more });

test("what a program prints, and how it ends", async () => {
  expect(await shell("echo out; echo err >&2; exit 3")).toEqual({
    ...{ exitCode: 3, signal: undefined, stdout: "out\n", stderr: "err\n" },
    message: "sh has failed with the status 3",
  });
  expect(await shell("kill -TERM $$")).toMatchObject({ exitCode: undefined, signal: "SIGTERM", message: "sh was ended by SIGTERM" });
  expect(await shell("cd")).toMatchObject({ exitCode: 0, message: "" });
});

test("text for its input, also more than it reads; a directory", async () => {
  expect((await shell("pwd; cat", { stdio: ["pipe", "pipe", "pipe"], input: "text", cwd: "/" })).stdout).toBe("/\ntext");
  expect(await shell("exit 0", { stdio: ["pipe", "pipe", "pipe"], input: "x".repeat(1 << 20) })).toMatchObject({ exitCode: 0 });
});

test("one that is not there; one that is not wanted any more is killed, or not started", async () => {
  expect((await runProgram("/no/such/program", [], { stdio: ["ignore", "ignore", "ignore"] })).message).toMatch(/ENOENT/);
  const began = performance.now();
  expect(await shell("exec sleep 60", { abort: AbortSignal.timeout(50) })).toMatchObject({ exitCode: undefined, signal: "SIGKILL" });
  expect(performance.now() - began).toBeLessThan(30_000);
  expect((await shell("echo out", { abort: AbortSignal.abort() })).stdout).toBe("");
});
