import { expect, test } from "vitest";
import { readDocuments } from "./documents.ts";

const readAs = (text: string) => (readDocuments(`value: ${text}\n`, "text", { ofGo: true })[0]!.value as { value: unknown }).value;

test.each([
  ["12", 12],
  ["010", 8],
  ["08", 8],
  ["-0x10", -16],
  ["0b11", 3],
  ["0o17", 15],
  ["1_000", 1000],
  ["0x", "0x"],
  ["0b12", "0b12"],
  ["0xffffffffffffffffff", "0xffffffffffffffffff"],
  ["1.50", 1.5],
  ["1e3", 1000],
  ["1e400", "1e400"],
  ["12:30", "12:30"],
  ["2001-02-31", "2001-02-31"],
  ['"010"', "010"],
])("%s is a value that JavaScript has, too", (text, value) => expect(readAs(text)).toStrictEqual(value));

test.each([
  ["9223372036854775807", "9223372036854775807"],
  ["18446744073709551615", "18446744073709551615"],
  ["18446744073709551616", "1.8446744073709552e+19"],
  ["1000000.0", "1e+06"],
  ["1234567.5", "1.2345675e+06"],
  ["0.00001", "1e-05"],
  ["-0.0", "-0"],
  ["-.inf", "-Inf"],
  [".nan", "NaN"],
  ["2001-01-01", "2001-01-01"],
  ["2001-1-1 10:00:00", "2001-1-1 10:00:00"],
])("%s has a text of its own in Go, %s", (text, own) => {
  expect(typeof readAs(text)).toBe("object");
  expect(String(readAs(text))).toBe(own);
});

test("without the option values are those of YAML 1.2, with octal digits", () =>
  expect(readDocuments("a: 010\nb: 2001-01-01\nc: 1e6\n", "text")[0]!.value).toEqual({ a: 8, b: "2001-01-01", c: 1_000_000 }));
