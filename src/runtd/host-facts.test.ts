import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { availableMemory, hostFacts, hostsFile, processesIn } from "./host-facts.ts";

test("P34 what the kernel says of memory and processes is read as proc(5) has it", () => {
  expect(availableMemory("MemTotal: 8 kB\nMemFree:  1 kB\nMemAvailable:    2048 kB\n")).toBe(2048 * 1024);
  expect(availableMemory("MemTotal: 8 kB\n")).toBeUndefined();
  expect(processesIn("0.1 0.2 0.3 2/345 999\n")).toBe(345);
  expect(processesIn("")).toBeUndefined();
});

test("P34 this host has something of everything", async () => {
  const { memory, disk, processes, name } = hostFacts(tmpdir());
  expect(name).not.toBe("");
  expect(memory.availableBytes).toBeGreaterThan(0);
  expect(memory.availableBytes).toBeLessThan(memory.bytes);
  expect(disk.availableBytes).toBeGreaterThan(0);
  expect(processes.used).toBeLessThan(processes.most);
});

test("/etc/hosts is read, unless it is too large to be copied to each pod, or no file", () => {
  const directory = mkdtempSync(join(tmpdir(), "runt-hosts-"));
  const path = join(directory, "hosts");
  expect([hostsFile(path), hostsFile(directory)]).toEqual([undefined, undefined]);
  writeFileSync(path, "127.0.0.1 localhost\n");
  expect(hostsFile(path)).toBe("127.0.0.1 localhost\n");
  writeFileSync(path, "#".repeat(64 * 1024 + 1));
  expect(hostsFile(path)).toBeNull();
  rmSync(directory, { recursive: true });
});
