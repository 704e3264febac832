import { tmpdir } from "node:os";
import { expect, test } from "vitest";
import { availableMemory, hostFacts, processesIn } from "./host-facts.ts";

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
