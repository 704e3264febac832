import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runsOf } from "../../../test/support/runs.ts";
import { parseJson } from "../spec/index.ts";
import { valueOffsets } from "./value-offsets.ts";

/** As the exact parser has them; of what is not there, that of what is around it. */
function parsedOffsets(text: string, pointers: readonly string[]): readonly number[] {
  const positions = new Map<string, number>();
  parseJson(text, { positions, trailing: () => undefined });
  return pointers.map((pointer) => {
    let at = pointer;
    while (!positions.has(at)) at = at.slice(0, at.lastIndexOf("/"));
    return positions.get(at)!;
  });
}

function pointersIn(text: string): string[] {
  const positions = new Map<string, number>();
  parseJson(text, { positions, trailing: () => undefined });
  return [...positions.keys()];
}

/** With blanks where they may stand, brackets and quotation marks in strings, and members of one name. */
const blanks = fc.constantFrom("", "", " ", "\n\t", "\r\n");
const words = fc.constantFrom(
  '""',
  '"a"',
  '"b"',
  '"/~"',
  '"]}"',
  '"{["',
  '"\\""',
  '"\\\\"',
  '"\\\\\\""',
  '"\\u0061"',
  '"__proto__"',
  '"0"',
);
const { document } = fc.letrec<{ document: string; list: string; object: string }>((tie) => ({
  document: fc
    .tuple(blanks, fc.oneof({ maxDepth: 5 }, words, fc.constantFrom("1", "-2.5e3", "true", "null"), tie("list"), tie("object")), blanks)
    .map((parts) => parts.join("")),
  list: fc.tuple(blanks, fc.array(tie("document"), { maxLength: 4 })).map(([inside, items]) => `[${items.join(",") || inside}]`),
  object: fc
    .tuple(blanks, fc.array(fc.tuple(blanks, words, blanks, tie("document")), { maxLength: 4 }))
    .map(
      ([inside, members]) => `{${members.map(([before, name, after, value]) => `${before}${name}${after}:${value}`).join(",") || inside}}`,
    ),
}));

describe("valueOffsets", () => {
  it("tells what the exact parser tells, whichever values are asked for", () => {
    fc.assert(
      fc.property(document, fc.infiniteStream(fc.boolean()), fc.constantFrom("", "\ufeff"), (text, choice, mark) => {
        const pointers = pointersIn(mark + text).filter(() => choice.next().value);
        const asked = pointers.flatMap((pointer) => [pointer, `${pointer}/missing`, `${pointer}/0/1`]);
        expect(valueOffsets(mark + text, asked)).toEqual(parsedOffsets(mark + text, asked));
      }),
      { numRuns: runsOf(2000) },
    );
  });

  it("tells the same where it may end early, which it may where no name is there twice", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.boolean(), fc.infiniteStream(fc.boolean()), (value, indented, choice) => {
        const text = JSON.stringify(value, undefined, indented ? 2 : 0);
        const pointers = pointersIn(text).filter(() => choice.next().value);
        const asked = pointers.flatMap((pointer) => (choice.next().value ? [pointer, pointer] : [pointer, `${pointer}/missing`]));
        for (const some of [asked, pointers, pointers.slice(0, 1)])
          expect(valueOffsets(text, some, true)).toEqual(parsedOffsets(text, some));
      }),
      { numRuns: runsOf(2000) },
    );
  });

  it("passes over long lists, long strings and many escapes", () => {
    const list = JSON.stringify(Array.from({ length: 1000 }, (_, index) => `${index}: "]" \\`));
    const text = `{"a":${list},"b":{"c":"${"\\\\".repeat(10_000)}"},"d":[{},[],[[{"e":[]}]]],"f":1}`;
    expect(valueOffsets(text, ["/f"])).toEqual([text.length - 2]);
  });

  it("ends with a text that is cut off", () => {
    const text = '{"a":[1,{"b":"c"}],"d":{"e":2}}';
    for (let end = 0; end < text.length; end++)
      for (const pointer of ["/a/1/b", "/d/e", "/x"]) expect(valueOffsets(text.slice(0, end), [pointer])).toHaveLength(1);
  });
});
