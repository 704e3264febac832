import { expect, it } from "vitest";
import { parseJson } from "./json.ts";
import { parsePlain } from "./plain-json.ts";

const plain = [
  "{}",
  "[]",
  "null",
  '{"a": {"b": [1, {"c": ""}]}, "d" : "x"}',
  '{"version": "1.0.2", "id": "12345678901234567890"}',
  ' {"__proto__": {"a": 1}} ',
  '{"a":-5,"b":[10,-20, 123456789012345],"c":  7}',
  '{"a": "1.5", "b": ["1e3", "2.5"], "c": ["x,1.5"]}',
];
it.each(plain)("%s is what the exact parser reads", (text) => {
  expect(parsePlain(text)).toEqual(parseJson(text));
  expect(JSON.stringify(parsePlain(text))).toBe(JSON.stringify(parseJson(text)));
});

it.each([
  ["two members of one name", '{"a": 1, "a": 2}'],
  ["two members of one name deep in it", '{"x": [{"a": 1, "b": 3, "a" : 2}]}'],
  ["two members whose names are written differently", '{"a": 1, "\\u0061": 2}'],
  ["an integer that a double would round", '{"a": 9007199254740993}'],
  ["an integer in another form", '{"a": [1, 1e3]}'],
  ["a fraction", '{"a":1.0}'],
  ["a fraction behind blanks", '{"a" : \n\t -1.0}'],
  ["a fraction in a list", '{"a":[1,\n 2.0]}'],
  ["an integer of many digits in a list", '{"a":[-1234567890123456]}'],
  ["a fraction alone", "1.0"],
  ["a fraction in a list of lists", '[{"a":1},[[1.0]]]'],
  ["no JSON", "{'a': 1}"],
  ["an escape of JavaScript's", '{"a": "\\x41"}'],
  ["a comment", '{"a": 1} // x'],
  ["more behind the end", "{} {}"],
  ["a byte order mark", "\ufeff{}"],
  ["more levels than are taken", "[".repeat(257) + "]".repeat(257)],
])("%s is for the exact parser", (_, text) => {
  expect(parsePlain(text)).toBeUndefined();
});

it("what only looks like a name costs time, and changes nothing", () => {
  expect(parsePlain('{"a": "\\": "}')).toBeUndefined();
});

it("256 levels are taken", () => {
  expect(parsePlain("[".repeat(256) + "]".repeat(256))).toBeDefined();
});
