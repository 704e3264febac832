import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { connectionsTo, openIn, unacceptedBy, unacceptedIn } from "./connections.ts";

type Ports = ReadonlySet<number>;
const summed = (countOf: (line: string, ports: Ports) => number) => (text: string, ports: Ports) =>
  text.split("\n").reduce((sum, one) => sum + countOf(one, ports), 0);
const countIn = summed(openIn);
const unaccepted = summed(unacceptedIn);

const HEAD = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n";
const line = (local: string, remote: string, state: string, queue = "00000000") =>
  `   0: ${local} ${remote} ${state} 00000000:${queue} 00:00000000 00000000     0        0 1 1\n`;

test("R8 connections to the ports of a service that have not ended are counted, and those by loopback are not", () => {
  const text =
    HEAD +
    line("00000000:1F90", "00000000:0000", "0A") +
    line("0200400A:1F90", "0100400A:C000", "01") +
    line("0200400A:1F90", "0100400A:C001", "08") +
    line("0200400A:1F90", "0100400A:C002", "06") +
    line("0200400A:1F91", "0100400A:C003", "01") +
    line("0100007F:1F90", "0100007F:C004", "01") +
    HEAD +
    line("0000000000000000FFFF00000200400A:1F90", "0000000000000000FFFF00000100400A:C005", "01") +
    line("0000000000000000FFFF00000100007F:1F90", "0000000000000000FFFF00000100007F:C006", "01");
  expect(countIn(text, new Set([8080]))).toBe(3);
  expect(countIn(text, new Set([8081]))).toBe(1);
  expect(countIn("", new Set([8080]))).toBe(0);
});

test("R8 connections that the program has not accepted are those in the queues of its listening sockets, and those that are being opened", () => {
  const text =
    HEAD +
    line("00000000:1F90", "00000000:0000", "0A", "0000000B") +
    line("00000000:1F91", "00000000:0000", "0A", "00000007") +
    // Of an accepted connection these are bytes.
    line("0200400A:1F90", "0100400A:C000", "01", "00000064") +
    line("0200400A:1F90", "0100400A:C001", "03") +
    line("0100007F:1F90", "0100007F:C002", "03") +
    HEAD +
    line("00000000000000000000000000000000:1F90", "00000000000000000000000000000000:0000", "0A", "00000002");
  expect(unaccepted(text, new Set([8080]))).toBe(14);
  expect(unaccepted(text, new Set([8081]))).toBe(7);
  expect([unaccepted(text, new Set([8082])), unaccepted("", new Set([8080]))]).toEqual([0, 0]);
});

const made: string[] = [];
afterEach(() => {
  vi.unstubAllEnvs();
  for (const one of made.splice(0)) rmSync(one, { recursive: true });
});

test("R8 100,000 connections of a namespace, of which the kernel prints 15 MB, are counted", async () => {
  const directory = mkdtempSync(join(tmpdir(), "runt-sockets-"));
  made.push(directory);
  const sockets = line("0200400A:1F90", "0100400A:C000", "01") + line("0200400A:1F90", "0100400A:C001", "03");
  writeFileSync(join(directory, "sockets"), HEAD + sockets.repeat(50_000));
  writeFileSync(join(directory, "nsenter"), `#!/bin/sh\nexec cat ${directory}/sockets\n`);
  chmodSync(join(directory, "nsenter"), 0o755);
  vi.stubEnv("PATH", `${directory}:${process.env["PATH"]}`);
  expect(await connectionsTo("/none", new Set([8080]), 60_000)).toBe(100_000);
  expect(await unacceptedBy("/none", new Set([8080]), 60_000)).toBe(50_000);
});

test.skipIf(process.geteuid?.() !== 0)(
  "R8 the kernel says what a namespace has; of one that is gone the count fails (needs root)",
  async () => {
    await expect(connectionsTo("/proc/self/no-namespace", new Set([80]), 60_000)).rejects.toThrow(/nsenter .* has failed/);
    expect(await connectionsTo("/proc/self/ns/net", new Set([1]), 60_000)).toBe(0);
  },
);
