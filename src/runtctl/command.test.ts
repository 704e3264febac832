import { expect, test } from "vitest";
import { callFor } from "./command.ts";
import { VERBS } from "./verbs/index.ts";

const verbs = VERBS.map(({ name }) => name);

test.each(["up", "down", "ps", "rm", "inspect", "compose", "stats", "rollout"])("%s is answered with a call whose verb exists", (word) => {
  const [, verb = ""] = /^runtctl (\S+)/.exec(callFor(word) ?? "") ?? [];
  expect(verbs).toContain(verb);
});

test("a word of nobody, and a name that every object has, are answered with nothing", () => {
  expect([callFor("frobnicate"), callFor("constructor")]).toEqual([undefined, undefined]);
});
