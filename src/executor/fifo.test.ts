import { execFileSync, spawn } from "node:child_process";
import { closeSync, constants, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, expect, test } from "vitest";
import { PolledReader, PolledWriter, readNow } from "./fifo.ts";

const directory = mkdtempSync(join(tmpdir(), "runt-fifo-"));
afterAll(() => rmSync(directory, { recursive: true }));
const { O_NONBLOCK, O_RDONLY, O_RDWR, O_WRONLY } = constants;

function made(name: string): string {
  const path = join(directory, name);
  execFileSync("mkfifo", [path]);
  return path;
}

test("a reader that polls gets more than a FIFO holds, and what a later writer writes", async () => {
  const path = made("read");
  const reader = new PolledReader(openSync(path, O_RDONLY | O_NONBLOCK));
  let seen = "";
  reader.setEncoding("latin1").on("data", (chunk: string) => (seen += chunk));
  const first = spawn("sh", ["-c", 'seq 1 40000 >"$0"', path], { stdio: "ignore" });
  await new Promise((resolve) => first.once("exit", resolve));
  await sleep(50);
  execFileSync("sh", ["-c", 'echo later >"$0"', path]);
  while (!seen.endsWith("later\n")) await sleep(5);
  expect(seen).toBe(`${Array.from({ length: 40_000 }, (_, index) => `${index + 1}\n`).join("")}later\n`);
  reader.destroy();
});

test("a writer that never pauses does not keep the timers of a reader that polls from running", async () => {
  const path = made("busy");
  const reader = new PolledReader(openSync(path, O_RDONLY | O_NONBLOCK));
  const yes = spawn("sh", ["-c", 'exec yes >"$0"', path], { stdio: "ignore" });
  let bytes = 0;
  reader.on("data", (chunk: Buffer) => (bytes += chunk.length));
  while (bytes < 1_000_000) await sleep(1);
  yes.kill("SIGKILL");
  reader.destroy();
});

test("a writer that polls waits while the FIFO is full, and loses nothing", async () => {
  const path = made("write");
  const held = openSync(path, O_RDWR | O_NONBLOCK);
  const writer = new PolledWriter(openSync(path, O_WRONLY | O_NONBLOCK));
  const content = Array.from({ length: 60_000 }, (_, index) => `${index}\n`).join("");
  writer.end(content);
  await sleep(30);
  expect(writer.writableFinished).toBe(false);
  const cat = spawn("cat", [path], { stdio: ["ignore", "pipe", "ignore"] });
  const copied = text(cat.stdout);
  await new Promise((resolve) => writer.once("close", resolve));
  closeSync(held);
  expect(await copied).toBe(content);
});

test("a writer whose reader has gone ends with EPIPE", async () => {
  const path = made("gone");
  const reader = openSync(path, O_RDONLY | O_NONBLOCK);
  const writer = new PolledWriter(openSync(path, O_WRONLY | O_NONBLOCK));
  closeSync(reader);
  const error = new Promise((resolve) => writer.once("error", resolve));
  writer.write("for no reader");
  expect(await error).toMatchObject({ code: "EPIPE" });
});

test("an empty FIFO gives nothing, with a writer and without one", () => {
  const path = made("empty");
  const reader = openSync(path, O_RDONLY | O_NONBLOCK);
  expect(readNow(reader)).toBeUndefined();
  const writer = openSync(path, O_WRONLY);
  expect(readNow(reader)).toBeUndefined();
  writeSync(writer, "text");
  expect(String(readNow(reader))).toBe("text");
  for (const fd of [reader, writer]) closeSync(fd);
});
