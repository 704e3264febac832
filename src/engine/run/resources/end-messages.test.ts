import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type ContainerRecord, newRecord, runtimeId } from "../../model/index.ts";
import { taskSchema } from "../../spec/index.ts";
import { Paths } from "../paths.ts";
import { EndMessages } from "./end-messages.ts";

const spec = taskSchema.parse({
  name: "t",
  containers: [
    { name: "a", rootfs: "/r", command: "x", endMessage: { path: "/end" } },
    { name: "b", rootfs: "/r", command: "x", endMessage: { path: "/end", orLog: true } },
    { name: "c", rootfs: "/r", command: "x" },
  ],
});
const record = newRecord({ id: "g.t.1", group: "g", spec, cgroup: null, at: { bootId: "boot-0", bootMs: 0, wallMs: 0 } });
const incarnation = (container: string, generation: number) => ({
  container,
  generation,
  runtimeId: runtimeId(record.id, container, generation),
});

let directory: string;
let paths: Paths;
let messages: EndMessages;
let told: string[];
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "runt-end-"));
  paths = new Paths(directory);
  told = [];
  messages = new EndMessages(paths, (_level, event) => told.push(event));
});
afterEach(() => rmSync(directory, { recursive: true }));

const begin = (name: string, generation: number): string => {
  messages.prepare(record, incarnation(name, generation));
  return paths.endMessage(record.id, runtimeId(record.id, name, generation));
};
const ended = (name: string, generation: number, code: number, more: Partial<ContainerRecord> = {}) =>
  messages.read(record, {
    ...record.containers.find((one) => one.name === name)!,
    known: "STOPPED",
    generation,
    exit: { code, signal: null, oomKilled: false, unknown: false, endedWallMs: 0 },
    ...more,
  });

test("P4 each start has an empty file that every user can write, and the message is that of the last end", () => {
  const first = begin("a", 1);
  expect(messages.contribute(record, incarnation("a", 1)).mounts).toMatchObject([{ destination: "/end", source: first }]);
  expect(statSync(first).mode & 0o777).toBe(0o666);
  writeFileSync(first, "once");
  expect(ended("a", 1, 0)).toBe("once");
  const second = begin("a", 2);
  expect(readFileSync(second, "utf8")).toBe("");
  expect(ended("a", 2, 0, { known: "RUNNING" })).toBe("once");
  writeFileSync(second, "twice");
  begin("a", 3);
  expect([first, second].map((path) => existsSync(path))).toEqual([false, true]);
  expect(ended("a", 3, 0, { known: "PULLED" })).toBe("twice");
  expect(ended("a", 3, 0)).toBeUndefined();
  expect(ended("a", 3, 0, { exit: null, known: "PULLED" })).toBeUndefined();
});

test("P4 who has asked for none has none; where it cannot be made that is told, and there is none", () => {
  expect(existsSync(begin("c", 1))).toBe(false);
  expect(messages.contribute(record, incarnation("c", 1))).toEqual({});
  writeFileSync(join(directory, "end-messages"), "");
  expect(existsSync(begin("a", 1))).toBe(false);
  expect(messages.contribute(record, incarnation("a", 1))).toEqual({});
  expect(told).toEqual(["end-message-not-made"]);
});

test("P4 whatever was made of the file: only its last 4096 bytes are read, and no other file", () => {
  const path = begin("a", 1);
  writeFileSync(path, Buffer.from([0xff, 0x00, 0x41]));
  expect(ended("a", 1, 0)).toBe("\ufffd\0A");
  writeFileSync(path, `start${"x".repeat(4093)}end`);
  expect(ended("a", 1, 0)).toBe(`${"x".repeat(4093)}end`);
  truncateSync(path, 2 ** 40);
  expect(ended("a", 1, 0)).toBe("\0".repeat(4096));
  rmSync(path);
  expect(ended("a", 1, 0)).toBeUndefined();
  writeFileSync(join(directory, "secret"), "secret");
  symlinkSync(join(directory, "secret"), path);
  expect(ended("a", 1, 0)).toBe("its message could not be read: ELOOP");
  rmSync(path);
  mkdirSync(path);
  expect(ended("a", 1, 0)).toBe("its message could not be read: it is not a file");
});

test("P4 one that has failed and written nothing has said what it has printed last, where that is asked for", () => {
  const lines = Array.from({ length: 100 }, (_, index) => `2026-01-02T03:04:05.000000000Z stdout F line ${index}\n`).join("");
  for (const name of ["a", "b"]) {
    begin(name, 1);
    mkdirSync(paths.logs(record.id), { recursive: true });
    writeFileSync(paths.log(record.id, runtimeId(record.id, name, 1)), lines);
  }
  expect(ended("a", 1, 3)).toBeUndefined();
  expect(ended("b", 1, 0)).toBeUndefined();
  expect(ended("b", 1, 3)!.split("\n")).toEqual([...Array.from({ length: 80 }, (_, index) => `line ${index + 20}`), ""]);
  writeFileSync(paths.endMessage(record.id, runtimeId(record.id, "b", 1)), "written");
  expect(ended("b", 1, 3)).toBe("written");
});
