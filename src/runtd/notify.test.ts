import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ServiceManager } from "./notify.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "runt-notify-"));
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(directory, { recursive: true });
});

/** A program that records its arguments. */
function runtime(): string {
  const path = join(directory, "runt");
  writeFileSync(path, `#!/bin/sh\necho "$@" >> ${directory}/told\n`, { mode: 0o755 });
  return path;
}
const told = () => readFileSync(join(directory, "told"), "utf8");
const READY = `service notify READY=1 MAINPID=${process.pid}\n`;

test("the messages go when they are sent, not when their messenger is started", async () => {
  vi.stubEnv("NOTIFY_SOCKET", "/some/socket");
  const manager = new ServiceManager();
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(told).toThrow("ENOENT");
  await manager.ready(runtime());
  expect(told()).toBe(READY);
  manager.stopping();
  await vi.waitFor(() => expect(told()).toBe(`${READY}service notify STOPPING=1\n`));
});

test("a daemon that goes on says so twice in each interval that the manager asks for, and no more once it ends", async () => {
  vi.stubEnv("NOTIFY_SOCKET", "/some/socket");
  vi.stubEnv("WATCHDOG_USEC", "40000");
  vi.stubEnv("WATCHDOG_PID", String(process.pid));
  const manager = new ServiceManager();
  await manager.ready(runtime());
  await vi.waitFor(() => expect(told().match(/WATCHDOG=1/g)?.length).toBeGreaterThan(2), { timeout: 10_000 });
  manager.stopping();
  await vi.waitFor(() => expect(told()).toMatch(/STOPPING=1\n$/), { timeout: 10_000 });
});

test("the watchdog of another process is not ours", async () => {
  vi.stubEnv("NOTIFY_SOCKET", "/some/socket");
  vi.stubEnv("WATCHDOG_USEC", "1000");
  vi.stubEnv("WATCHDOG_PID", "1");
  const manager = new ServiceManager();
  await manager.ready(runtime());
  await new Promise((resolve) => setTimeout(resolve, 100));
  manager.stopping();
  expect(told()).not.toContain("WATCHDOG");
});

test("without a manager nothing is started", async () => {
  vi.stubEnv("NOTIFY_SOCKET", "");
  await new ServiceManager().ready(runtime());
  expect(told).toThrow("ENOENT");
});

test("a program that fails or is not there does not keep the daemon from going on", async () => {
  vi.stubEnv("NOTIFY_SOCKET", "/some/socket");
  const manager = new ServiceManager();
  await manager.ready(join(directory, "none"));
  manager.stopping();
});
