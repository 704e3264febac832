import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { managerMessage } from "./notify.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "runt-notify-"));
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(directory, { recursive: true });
});

/** A program that records its arguments and the id of its parent process. */
function runtime(): string {
  const path = join(directory, "runt");
  writeFileSync(path, `#!/bin/sh\necho "$PPID $@" >> ${directory}/told\n`, { mode: 0o755 });
  return path;
}
const told = () => readFileSync(join(directory, "told"), "utf8");

test("the message goes when it is sent, not when its messenger is started", async () => {
  vi.stubEnv("NOTIFY_SOCKET", "/some/socket");
  const send = managerMessage(["READY=1", "MAINPID=7"]);
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(told).toThrow("ENOENT");
  await send(runtime());
  expect(told()).toBe(`${process.pid} service notify READY=1 MAINPID=7\n`);
});

test("without a manager nothing is started", async () => {
  vi.stubEnv("NOTIFY_SOCKET", "");
  await managerMessage(["READY=1"])(runtime());
  expect(told).toThrow("ENOENT");
});

test("a program that fails or is not there does not keep the daemon from going on", async () => {
  vi.stubEnv("NOTIFY_SOCKET", "/some/socket");
  await managerMessage(["READY=1"])(join(directory, "none"));
});
