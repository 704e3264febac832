import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { callFor } from "./other-words.ts";

const verbs = new Set(readdirSync(join(import.meta.dirname, "verbs")).map((file) => file.replace(/\.ts$/, "")));

test.each(["up", "down", "ps", "rm", "inspect", "compose", "stats", "rollout"])("%s is answered with a call whose verb exists", (word) => {
  const [, verb = ""] = /^runtctl (\S+)/.exec(callFor(word) ?? "") ?? [];
  expect(verbs).toContain(verb);
});

test("a word of nobody, and a name that every object has, are answered with nothing", () => {
  expect([callFor("frobnicate"), callFor("constructor")]).toEqual([undefined, undefined]);
});
