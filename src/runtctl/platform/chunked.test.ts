import fc from "fast-check";
import { expect, test } from "vitest";
import { ChunkedBody } from "./chunked.ts";

/** The decoded text if it arrives in pieces of these lengths. */
function read(text: string, lengths: readonly number[] = []): { readonly data: string; readonly isWhole: boolean } {
  const bytes = Buffer.from(text, "latin1");
  const body = new ChunkedBody();
  let data = "";
  let at = 0;
  for (const length of [...lengths, bytes.length]) {
    for (const piece of body.push(bytes.subarray(at, at + length))) data += Buffer.from(piece).toString("latin1");
    at = Math.min(bytes.length, at + length);
  }
  return { data, isWhole: body.isWhole };
}

test("chunks, their extensions and what comes behind the last one", () => {
  expect(read("5\r\nhello\r\n0A ; name=x\r\n, \r\nworld!\r\n0\r\nTrailer: x\r\n\r\n")).toEqual({
    data: "hello, \r\nworld!",
    isWhole: true,
  });
  expect(read("5\r\nhel")).toEqual({ data: "hel", isWhole: false });
  expect(read("0\r\n")).toEqual({ data: "", isWhole: false });
});

test("data in chunks of any length, in pieces of any length", () => {
  const chunk = fc.string({ unit: "binary-ascii", minLength: 1, maxLength: 40 });
  fc.assert(
    fc.property(fc.array(chunk), fc.array(fc.integer({ min: 0, max: 9 })), (chunks, lengths) => {
      const text = [...chunks.map((one) => `${one.length.toString(16)}\r\n${one}\r\n`), "0\r\n\r\n"].join("");
      expect(read(text, lengths)).toEqual({ data: chunks.join(""), isWhole: true });
    }),
    { numRuns: 2000, seed: 7 },
  );
});

test.each([
  ...[
    "x\r\n",
    "\r\n",
    "-1\r\n",
    "0x1\r\n",
    "1\n",
    "1 1\r\n",
    "123456789\r\n",
    "1\r\nab\r\n",
    "1\r\na\n\n",
    "0\r\n\r\nmore",
    "0\r\nA: b\n\r\n",
  ],
  "1".repeat(2000),
  `1;${"x".repeat(2000)}`,
  `0\r\n${"A: b\r\n".repeat(20_000)}`,
])("%# is not in chunks", (text) => {
  expect(() => read(text)).toThrow("what answers does not speak HTTP");
});
