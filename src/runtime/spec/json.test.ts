import { describe, expect, it } from "vitest";
import { RuntError } from "../errors/index.ts";
import { lineColumn, parseJson } from "./json.ts";

function failure(text: string): { message: string; line?: number; column?: number } {
  try {
    parseJson(text);
  } catch (error) {
    if (!(error instanceof RuntError)) throw error;
    expect(error.code).toBe("config-syntax");
    return { message: error.message, ...error.details };
  }
  throw new Error("accepted");
}

describe("parseJson", () => {
  it.each([
    '{"a":[1,-2.5e3,true,false,null,"x"],"b":{}}',
    " [ ] ",
    '"\\u00e9\\n\\"\\\\\\/\\b\\f\\r\\t\\ud83d\\ude00"',
    "0",
    "-0.5E-2",
    '{"__proto__":1,"constructor":2}',
    '"unescaped é 😀"',
  ])("reads %s as JSON.parse does", (text) => {
    expect(parseJson(text)).toEqual(JSON.parse(text));
  });

  it("keeps integers exact", () => {
    expect(parseJson("18446744073709551615")).toBe(18446744073709551615n);
    expect(parseJson("-9223372036854775808")).toBe(-9223372036854775808n);
    expect(parseJson("9007199254740993")).toBe(9007199254740993n);
    expect(parseJson("9007199254740991")).toBe(9007199254740991);
    expect(parseJson("1e20")).toBe(1e20);
  });

  it("does not let a member set the prototype", () => {
    const value = parseJson('{"__proto__":{"polluted":true}}') as Record<string, unknown>;
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(Object.hasOwn(value, "__proto__")).toBe(true);
  });

  it.each([
    ["", "end of file", 1, 1],
    ['{"a":1', 'expected "," or "}"', 1, 7],
    ['{\n  "a": 1,\n}', "expected a field name", 3, 1],
    ['{"a" 1}', 'expected ":" after the field name "a"', 1, 6],
    ["[1,]", 'found "]"', 1, 4],
    ["[1 2]", 'expected "," or "]"', 1, 4],
    ["[01]", "may not start with 0", 1, 2],
    [`[${"9".repeat(1001)}]`, "more than 1000 digits", 1, 2],
    [`[0.${"9".repeat(1001)}]`, "more than 1000 digits", 1, 2],
    ["[+1]", 'found "+"', 1, 2],
    ['["a\nb"]', "unterminated string", 1, 2],
    ['["abc', "unterminated string", 1, 2],
    ['["\\x"]', "unknown escape \\x", 1, 3],
    ['["\\u12g4"]', "four hexadecimal digits", 1, 3],
    ['["\u0001"]', "control character", 1, 3],
    ["{} x", "unexpected data after the end", 1, 4],
    ["tru", "expected a value", 1, 1],
    ["'a'", "expected a value", 1, 1],
  ])("refuses %j: %s", (text, message, line, column) => {
    const found = failure(text);
    expect(found.message).toContain(message);
    expect(found).toMatchObject({ line, column });
    expect(found.message).toMatch(new RegExp(`^config\\.json:${line}:${column}: `));
  });

  it("has a depth limit instead of a stack overflow", () => {
    expect(failure("[".repeat(100_000)).message).toContain("nested deeper than 256 levels");
    const nested = (depth: number, inner: string) => `${"[".repeat(depth)}${inner}${"]".repeat(depth)}`;
    for (const inner of ["", "1", '"["', '{"a":1}']) {
      const own = inner.startsWith("{") ? 1 : 0;
      for (const depth of [255, 256]) expect(parseJson(nested(depth - own, inner))).toBeInstanceOf(Array);
      for (const depth of [257, 1_000_000]) expect(failure(nested(depth - own, inner)).message).toContain("nested deeper than 256 levels");
    }
  });

  it("skips a byte order mark", () => {
    expect(parseJson("\ufeff{}")).toEqual({});
  });

  it.each([
    ['"a\\"b"', 'a"b'],
    ['"\\\\"', "\\"],
    ['["plain","with \\n","plain"]', ["plain", "with \n", "plain"]],
    ['\n["a",\n"b\\u0041",\n"c"]\n', ["a", "bA", "c"]],
  ])("reads strings up to the next escape at once: %s", (text, value) => {
    expect(parseJson(text)).toEqual(value);
  });

  it.each(['"a\nb"', '["a", "b\tc"]', '"a', '["a", "b\\"]'])("refuses what may not stand in a string: %j", (text) => {
    expect(() => parseJson(text)).toThrow(/string/);
  });

  it("keeps positions and duplicates by pointer", () => {
    const positions = new Map<string, number>();
    const duplicates: string[] = [];
    const text = '{"a":[1, {"x/y~":2}],"a": 3}';
    parseJson(text, { positions, duplicates });
    expect(positions.get("/a/1/x~1y~0")).toBe(text.indexOf("2"));
    expect(positions.get("/a")).toBe(text.lastIndexOf("3"));
    expect(duplicates).toEqual(["/a"]);
  });
});

describe("lineColumn", () => {
  it("counts from 1", () => {
    expect(lineColumn("a\nbc\n", 0)).toEqual({ line: 1, column: 1 });
    expect(lineColumn("a\nbc\n", 3)).toEqual({ line: 2, column: 2 });
    expect(lineColumn("a\nbc\n", 5)).toEqual({ line: 3, column: 1 });
  });
});
