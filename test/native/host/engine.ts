/**
 * What tools/quickjs/patches change in the interpreter, by what ECMA-262 says of it: properties of literals, members of objects and of what they
 * inherit from, comparing and concatenation of strings, the quotes of JSON, appending to arrays.
 */
import { equal, ok, type Test } from "./harness.ts";

/** Nothing of it is known when the bytecode is made. */
const given = <T>(value: T): T => JSON.parse(JSON.stringify({ value })).value;

const names = (value: object) => Object.keys(value).join(" ");

class Base {
  readonly own = 1;
  get twice(): number {
    return this.own * 2;
  }
  plain(): string {
    return "base";
  }
}
class Derived extends Base {
  override plain(): string {
    return `derived ${super.plain()}`;
  }
}

export const engineTests: readonly Test[] = [
  [
    "literals keep order, count and values, however many were made before",
    () => {
      const made: object[] = [];
      for (let index = 0; index < 300; index++) {
        const few = { a: index, b: [index] };
        const many = { a: index, b: index + 1, c: `${index}`, d: { index }, e: null, f: undefined, g: -index, h: true, i: few };
        const other = { a: index, c: 1, b: 2 };
        made.push(few, many, other, { ...other, a: "over", z: 1 }, { z: 1, ...few });
      }
      for (let index = 0; index < 300; index++) {
        const [few, many, other, over, spread] = made.slice(index * 5, index * 5 + 5) as [object, object, object, object, object];
        equal(JSON.stringify(few), `{"a":${index},"b":[${index}]}`);
        equal(names(many), "a b c d e f g h i");
        equal(JSON.stringify(other), `{"a":${index},"c":1,"b":2}`);
        equal(JSON.stringify(over), `{"a":"over","c":1,"b":2,"z":1}`);
        equal(JSON.stringify(spread), `{"z":1,"a":${index},"b":[${index}]}`);
      }
    },
  ],
  [
    "a literal's property that is there already, a computed one, an accessor, a prototype",
    () => {
      const key: string = given("a");
      const computed = { a: 1, [key]: 2, b: 3 };
      equal(JSON.stringify(computed), '{"a":2,"b":3}');
      let calls = 0;
      const accessor = {
        get a() {
          return ++calls;
        },
        b: 2,
      };
      equal([accessor.a, accessor.a, calls], [1, 2, 2]);
      const parent = { x: 1, y: 2 };
      const child: { x: number; y: number; own: number } = { __proto__: parent, own: 3, x: 4 } as never;
      equal([child.x, child.y, child.own, names(child)], [4, 2, 3, "own x"]);
      ok(!("x" in Object.create(null, {})), "an object without a prototype inherits");
    },
  ],
  [
    "properties that are added, changed and deleted later",
    () => {
      const grown: Record<string, number> = { a: 1 };
      for (let index = 0; index < 40; index++) grown[`p${index}`] = index;
      for (let index = 0; index < 40; index += 2) delete grown[`p${index}`];
      equal(Object.keys(grown).length, 21);
      equal([grown["a"], grown["p1"], grown["p2"], grown["p39"]], [1, 1, undefined, 39]);
      const frozen = Object.freeze({ a: 1, b: 2 });
      const copy = { ...frozen, b: 3 };
      equal([frozen.b, copy.b], [2, 3]);
    },
  ],
  [
    "members: own, inherited, none, accessors, arrays, primitives",
    () => {
      const derived = new Derived();
      equal([derived.own, derived.twice, derived.plain(), (derived as { none?: 1 }).none], [1, 2, "derived base", undefined]);
      const list = given([1, 2, 3]);
      equal([list.length, list[1], list[3], (list as unknown as { "1": number })["1"], typeof list.push], [3, 2, undefined, 2, "function"]);
      list.length = 1;
      equal([list.length, list[1]], [1, undefined]);
      const text = given("größe");
      equal([text.length, text[2], (text as unknown as { none?: 1 }).none], [5, "ö", undefined]);
      const bytes = new Uint8Array([5, 6]);
      equal([bytes.length, bytes[1], bytes[2], (bytes as unknown as Record<string, unknown>)["-0"]], [2, 6, undefined, undefined]);
      let thrown = "";
      try {
        given<{ a: number } | null>(null)!.a;
      } catch (error) {
        thrown = (error as Error).name;
      }
      equal(thrown, "TypeError");
    },
  ],
  [
    "strings are equal by their characters",
    () => {
      const [one, wide] = [given("container"), given("containér☃")];
      const built = ["con", "tain", "er"].join("");
      equal(
        [one === built, one === given("containeR"), one === given("containe"), wide === `contain${given("ér")}☃`],
        [true, false, false, true],
      );
      equal([given("") === "", `${one}☃`.slice(0, 9) === one, one < given("containes"), one >= built], [true, true, true, true]);
      const rope = given("x".repeat(3000)) + given("y".repeat(3000));
      equal([rope === "x".repeat(3000) + "y".repeat(3000), rope === `${"x".repeat(3000)}${"y".repeat(2999)}z`], [true, false]);
    },
  ],
  [
    "JSON quotes what has to be quoted, at every place",
    () => {
      const special: readonly [string, string][] = [
        ['"', '\\"'],
        ["\\", "\\\\"],
        ["\n", "\\n"],
        ["\u0000", "\\u0000"],
        ["\u001f", "\\u001f"],
        ["\u007f", "\u007f"],
        // Beside what has to be quoted, by their numbers.
        ...[..." !#[]^\u0080\u00ff"].map((plain): [string, string] => [plain, plain]),
        ["é", "é"],
        ["☃", "☃"],
        ["\ud800", "\\ud800"],
        ["😀", "😀"],
      ];
      for (const [raw, quoted] of special) {
        // Eight are looked at together.
        for (const before of [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 300]) {
          const [head, tail] = ["a".repeat(before), "z".repeat(before)];
          equal(JSON.stringify(`${head}${raw}${tail}`), `"${head}${quoted}${tail}"`, `${before} characters before`);
          equal(JSON.stringify({ [`${head}${raw}`]: raw + raw }), `{"${head}${quoted}":"${quoted}${quoted}"}`);
        }
      }
      equal(JSON.stringify({ empty: "", list: ["", "a"] }), '{"empty":"","list":["","a"]}');
    },
  ],
  [
    "a text is its parts one after the other: empty, short, long, wide, made of parts, and what is no string",
    () => {
      const parts = [...given(["", "a", "bcd", "é", "☃", "x".repeat(600), "y".repeat(9000)]), given("p".repeat(9000)) + given("q")];
      for (const one of parts) {
        for (const two of parts) {
          const [whole, joined] = [`${one}-${two}${one}`, one.concat(two, one, "")];
          const [first, second] = [one.length, two.length];
          equal([whole.length, joined.length], [2 * first + second + 1, 2 * first + second]);
          ok(
            whole.slice(0, first) === one && whole[first] === "-" && whole.slice(first + 1, first + 1 + second) === two,
            "the first parts",
          );
          ok(whole.slice(first + second + 1) === one && joined.slice(first, first + second) === two, "the last parts");
        }
      }
      const concat = String.prototype.concat;
      equal(
        [`${given(1)}${given(true)}${given(null)}${undefined}${{ toString: () => "o" }}`, concat.call(5, "x")],
        ["1truenullundefinedo", "5x"],
      );
      equal([thrownBy(() => concat.call(null, "x")), thrownBy(() => `${Symbol("s") as unknown as string}`)], ["TypeError", "TypeError"]);
    },
  ],
  [
    "push appends to arrays of every kind, and is refused where nothing can be added",
    () => {
      const list: unknown[] = given([1]);
      equal([list.push(2), list.push(), list.push(3, 4), list.length], [2, 2, 4, 4]);
      list.length = 6;
      equal([list.push(5), list.length, 5 in list, list[6]], [7, 7, false, 5]);
      const grown: number[] = [];
      for (let index = 0; index < 5000; index++) equal(grown.push(index), index + 1);
      equal([grown.length, grown[4999], Object.keys(grown).length], [5000, 4999, 5000]);
      const like = { length: 1, push: Array.prototype.push };
      equal([like.push("x"), JSON.stringify(like)], [2, '{"1":"x","length":2}']);
      class Listed extends Array<number> {}
      const derived = new Listed();
      equal([derived.push(7), derived.length, derived[0]], [1, 1, 7]);
      const closed = given([1]);
      Object.defineProperty(closed, "length", { writable: false });
      for (const one of [Object.freeze(given([1])), Object.seal(given([1])), Object.preventExtensions(given([1])), closed]) {
        equal([thrownBy(() => (one as number[]).push(2)), JSON.stringify(one)], ["TypeError", "[1]"]);
      }
    },
  ],
];

function thrownBy(action: () => unknown): string {
  try {
    action();
    return "";
  } catch (error) {
    return (error as Error).name;
  }
}
