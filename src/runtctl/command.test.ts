import { expect, test } from "vitest";
import { callFor } from "./command.ts";
import { VERBS } from "./verbs/index.ts";

const verbs = VERBS.map(({ name }) => name);

test.each(["up", "down", "ps", "rm", "compose", "stats", "rollout"])("%s is answered with a call whose verb exists", (word) => {
  const [, verb = ""] = /^runtctl (\S+)/.exec(callFor(word) ?? "") ?? [];
  expect(verbs).toContain(verb);
});

test.each([
  ["up", "apply"],
  ["ps", "get"],
  ["down", "delete"],
  ["logs", "logs"],
  ["exec", "exec"],
  ["build", "build"],
])("compose %s is answered with the call of runtctl %s", (word, verb) => {
  expect(callFor("compose", ["-f", word, word])).toMatch(new RegExp(`^runtctl ${verb}\\b`));
  expect(verbs).toContain(verb);
});

test("compose with a word of nobody is answered as compose alone", () => {
  for (const behind of [[], ["frobnicate"], ["constructor"], ["--help"]]) expect(callFor("compose", behind)).toBe(callFor("compose"));
});

test("a word of nobody, and a name that every object has, are answered with nothing", () => {
  expect([callFor("frobnicate"), callFor("constructor")]).toEqual([undefined, undefined]);
});
