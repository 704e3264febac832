/** The cases that the fuzzer of a machine's channel has kept (test/fuzz-channel), recorded sessions among them: the host's side does by each what the rules say. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { guestItems, hostItem, OPS, parseCase, printCase } from "../fuzz-channel/case.ts";
import { instrument } from "../fuzz-channel/instrument.ts";
import { execute } from "../fuzz-channel/subject.ts";
import { REPOSITORY } from "../support/programs.ts";

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

it.each([
  ["corpus", 100],
  ["recorded", 2],
])("%s.pack.gz finds nothing", (name, fewest) => {
  const pack = gunzipSync(readFileSync(join(REPOSITORY, `test/fuzz-channel/${name}.pack.gz`)));
  let count = 0;
  for (let at = 0; at < pack.length; count++) {
    const end = at + 4 + pack.readUInt32LE(at);
    execute(pack.subarray(at + 4, end), (bytes) => utf8.decode(bytes));
    at = end;
  }
  expect(count).toBeGreaterThan(fewest);
});

it("a case is what it was when it is printed and parsed", () => {
  const items = [
    hostItem("create"),
    ...guestItems(new Uint8Array(70_000)),
    hostItem("feed", 2, 300),
    hostItem("close", 1),
    hostItem("wrong", 255),
  ];
  const pieces = { op: OPS.pieces, which: 3, most: 2, guest: Uint8Array.of(1, 2) };
  const parsed = parseCase(printCase([...items, pieces]));
  expect(parsed.map(({ op, which, guest }) => [op, which, guest.length])).toEqual(
    [...items, pieces].map(({ op, which, guest }) => [op, which, guest.length]),
  );
  expect(parsed.find(({ op }) => op === OPS.feed)?.most).toBe(300);
});

it("a counter stands before each statement, and in each part of a condition", () => {
  const source = "const f = (a: number): number => {\n  if (a > 1 && a < 9) return a === 5 ? 1 : 2;\n  return 3;\n};\n";
  const { text, places } = instrument("a.ts", source, 10);
  const hits = (value: number): number[] => {
    const run = new Function("__hit", "value", `${text.replaceAll(": number", "")}; f(value);`) as (
      counters: number[],
      value: number,
    ) => void;
    const counters = new Array<number>(10 + places.length).fill(0);
    run(counters, value);
    return places.flatMap(({ line }, index) => (counters[10 + index]! > 0 ? line : []));
  };
  expect(hits(0)).toEqual([1, 2, 3]);
  expect(hits(10)).toEqual([1, 2, 2, 3]);
  expect(hits(5)).toEqual([1, 2, 2, 2, 2]);
  expect(new Set(places.map(({ file }) => file))).toEqual(new Set(["a.ts"]));
});
