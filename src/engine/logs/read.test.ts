import { appendFileSync, mkdtempSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type LogRecord, type ReadOptions, readLog, TextWriter } from "./index.ts";

let directory: string;
let path: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "runt-logs-"));
  path = join(directory, "log");
});
afterEach(() => rmSync(directory, { recursive: true }));

const time = (second: number) => `2026-01-02T03:04:${String(second).padStart(2, "0")}.000000000Z`;
const record = (second: number, text: string, stream = "stdout", tag = "F") => `${time(second)} ${stream} ${tag} ${text}\n`;
const shown = ({ stream, isPart, bytes }: LogRecord) => `${stream} ${bytes}${isPart ? "..." : ""}`;

async function all(options: ReadOptions = {}): Promise<string[]> {
  const records: string[] = [];
  for await (const some of readLog(path, options)) records.push(...some.map(shown));
  return records;
}

/** A reader that reads when the test asks, and the records that it has read. */
function follow(options: ReadOptions = {}) {
  let isOver = false;
  let wake = () => {};
  const seen: string[] = [];
  const changed = () =>
    new Promise<void>((resolve) => {
      wake = resolve;
    });
  const over = (async () => {
    for await (const some of readLog(path, { ...options, follow: { isOver: () => isOver, changed } })) seen.push(...some.map(shown));
  })();
  const look = async () => {
    wake();
    for (let turn = 0; turn < 20; turn++) await setImmediate();
  };
  const end = async () => {
    isOver = true;
    await look();
    await over;
  };
  return { seen, look, end };
}

test("a log that is not there is empty; so is a FIFO, and what a link leads to", async () => {
  expect(await all()).toEqual([]);
  writeFileSync(join(directory, "other"), record(1, "secret"));
  symlinkSync(join(directory, "other"), path);
  expect(await all({ tail: 1 })).toEqual([]);
});

test("rotated files first, the oldest at the beginning", async () => {
  writeFileSync(path, record(3, "three"));
  writeFileSync(`${path}.1`, record(2, "two", "stderr"));
  writeFileSync(`${path}.2`, record(1, "one"));
  expect(await all()).toEqual(["stdout one", "stderr two", "stdout three"]);
});

test("since: records of that time and later", async () => {
  writeFileSync(path, record(1, "one") + record(2, "two") + record(3, "three"));
  expect(await all({ since: time(2) })).toEqual(["stdout two", "stdout three"]);
});

test.each([
  [0, []],
  [1, ["stdout 4"]],
  [3, ["stdout 2", "stdout 3...", "stdout 3b", "stdout 4"]],
  [4, ["stdout 1", "stdout 2", "stdout 3...", "stdout 3b", "stdout 4"]],
  [9, ["stdout 0", "stdout 1", "stdout 2", "stdout 3...", "stdout 3b", "stdout 4"]],
])("the last %i lines, over rotated files; parts of a line are one line", async (tail, expected) => {
  writeFileSync(`${path}.1`, record(1, "0") + record(1, "1") + record(2, "2") + record(3, "3", "stdout", "P"));
  writeFileSync(path, record(3, "3b") + record(4, "4"));
  expect(await all({ tail })).toEqual(expected);
});

test("a line without an end is the last line; long lines and many files are found from behind", async () => {
  const long = "x".repeat(150_000);
  writeFileSync(path, record(1, "a") + record(1, long) + record(2, "prompt", "stdout", "P"));
  expect(await all({ tail: 1 })).toEqual(["stdout prompt..."]);
  expect(await all({ tail: 2 })).toEqual([`stdout ${long}`, "stdout prompt..."]);
  expect(await all({ tail: 3 })).toHaveLength(3);
});

test("a record that is not whole yet waits; what is no record is told", async () => {
  writeFileSync(path, `${record(1, "one")}by hand\n${time(2)} stdout F ha`);
  expect(await all()).toEqual(["stdout one", "runt unreadable: by hand"]);
});

test("the last 0 lines: nothing of what is there, and all of a record that becomes whole later", async () => {
  expect(await all({ tail: 0 })).toEqual([]);
  writeFileSync(path, `${record(1, "old")}${time(2)} stdout F ha`);
  writeFileSync(`${path}.1`, record(0, "older"));
  expect(await all({ tail: 0 })).toEqual([]);
  const { seen, look, end } = follow({ tail: 0 });
  await look();
  expect(seen).toEqual([]);
  appendFileSync(path, "lf\n");
  await end();
  expect(seen).toEqual(["stdout half"]);
});

test("follow: from the end, over rotations, to the end", async () => {
  writeFileSync(path, record(1, "old"));
  const { seen, look, end } = follow({ tail: 0 });
  await look();
  expect(seen).toEqual([]);
  appendFileSync(path, record(2, "new"));
  await look();
  expect(seen).toEqual(["stdout new"]);
  appendFileSync(path, record(3, "last of this file"));
  renameSync(path, `${path}.1`);
  writeFileSync(path, record(4, "first of the next"));
  renameSync(`${path}.1`, `${path}.2`);
  renameSync(path, `${path}.1`);
  writeFileSync(path, record(5, "and on"));
  await look();
  expect(seen.slice(1)).toEqual(["stdout last of this file", "stdout first of the next", "stdout and on"]);
  appendFileSync(path, record(6, "the end"));
  await end();
  expect(seen.at(-1)).toBe("stdout the end");
});

test("follow: a log that comes later; files that are gone before they were read are told", async () => {
  const { seen, look, end } = follow();
  await look();
  writeFileSync(path, record(1, "one"));
  await look();
  expect(seen).toEqual(["stdout one"]);
  // Rotates so fast that the file being read is dropped.
  rmSync(path);
  writeFileSync(`${path}.1`, record(5, "five"));
  writeFileSync(path, record(6, "six"));
  await end();
  expect(seen.slice(1)).toEqual(["runt lines were rotated away before they were read", "stdout five", "stdout six"]);
});

test("follow: what was taken back on a full disk does not come in the middle of something else", async () => {
  writeFileSync(path, record(1, "one") + record(2, "taken back"));
  const { seen, look, end } = follow();
  await look();
  truncateSync(path, record(1, "one").length);
  await look();
  appendFileSync(path, record(3, "three") + record(4, "four"));
  await end();
  expect(seen).toEqual(["stdout one", "stdout taken back", "stdout three", "stdout four"]);
});

test("as text: what was printed, byte for byte; times stand before lines, not before parts", () => {
  const records: LogRecord[] = [
    { time: "T1", stream: "stdout", isPart: true, bytes: Buffer.from([0xff, 0x00]) },
    { time: "T2", stream: "stderr", isPart: false, bytes: Buffer.from("error") },
    { time: "T3", stream: "stdout", isPart: false, bytes: Buffer.from("end") },
    { time: "T4", stream: "runt", isPart: false, bytes: Buffer.from("dropped: 1 line") },
  ];
  const text = (hasTimes: boolean) => {
    const writer = new TextWriter({ hasTimes });
    return Buffer.concat(records.map((one) => writer.render(one))).toString("latin1");
  };
  expect(text(false)).toBe("\xff\0error\nend\n[log] dropped: 1 line\n");
  expect(text(true)).toBe("T1 \xff\0T2 error\nend\nT4 [log] dropped: 1 line\n");
});

test("a place that was told is where another reader goes on, also over a rotation; what is gone by then is told", async () => {
  writeFileSync(path, record(1, "one") + record(2, "two") + record(3, "three"));
  const places: (string | undefined)[] = [];
  for await (const some of readLog(path, {})) places.push(...some.map(({ next }) => next));
  expect(await all({ from: places[0] })).toEqual(["stdout two", "stdout three"]);
  expect(await all({ from: places[2], tail: 3 })).toEqual([]);
  renameSync(path, `${path}.1`);
  writeFileSync(path, record(4, "four"));
  // The clock was set back.
  appendFileSync(path, record(0, "five"));
  expect(await all({ from: places[1] })).toEqual(["stdout three", "stdout four", "stdout five"]);
  renameSync(path, `${path}.1`);
  writeFileSync(path, record(6, "six"));
  expect(await all({ from: places[1] })).toEqual([
    "runt lines were rotated away before they were read",
    "stdout four",
    "stdout five",
    "stdout six",
  ]);
  // A file with the same inode and another first record is another file.
  const place = places[1]!.replace(/-(\d+)-\d*$/, "-$1-20260102030400000000000");
  expect((await all({ from: place }))[0]).toMatch(/^runt lines were rotated away/);
});

/** How many turns other work gets meanwhile. */
async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let isOver = false;
  let turns = 0;
  const counting = (async () => {
    for (; !isOver; turns++) await setImmediate();
  })();
  await work();
  isOver = true;
  await counting;
  return turns;
}

test("a search through a large log lets other work go on, and ends when nobody waits any more", async () => {
  const part = Array.from({ length: 10_000 }, (_, at) => record(at % 60, "x".repeat(50))).join("");
  writeFileSync(path, part);
  const pieces = Math.floor(part.length / 65_536);
  expect(await turnsDuring(() => all({ since: time(99) }))).toBeGreaterThanOrEqual(pieces - 1);
  expect(await turnsDuring(() => all({ tail: 1_000_000, since: time(99) }))).toBeGreaterThanOrEqual(2 * pieces - 2);
  const controller = new AbortController();
  const ended = turnsDuring(() => all({ tail: 1_000_000, since: time(99), signal: controller.signal }));
  await setImmediate();
  controller.abort();
  expect(await ended).toBeLessThan(pieces);
});

test("since: a rotated file that begins and ends earlier is not searched, but one that ends later is", async () => {
  writeFileSync(`${path}.2`, record(1, "a") + record(9, "between") + record(2, "b"));
  writeFileSync(`${path}.1`, record(3, "c") + record(4, "d"));
  writeFileSync(path, record(5, "e"));
  expect(await all({ since: time(4) })).toEqual(["stdout d", "stdout e"]);
  expect(await all({ since: time(4), tail: 9 })).toEqual(["stdout d", "stdout e"]);
  expect(await all({ since: time(2) })).toEqual(["stdout between", "stdout b", "stdout c", "stdout d", "stdout e"]);
  expect(await all({ since: time(6) })).toEqual([]);
});
