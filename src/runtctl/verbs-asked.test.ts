import { expect, test } from "vitest";
import { VERBS } from "./verbs/index.ts";
import { verbsAsked } from "./verbs-asked.ts";

const asked = (...words: string[]) => verbsAsked(words).map(({ name }) => name);
const ALL = VERBS.map(({ name }) => name);

test("only the verb that is named is defined, whatever options stand before it", () => {
  expect(asked("get", "-w")).toEqual(["get"]);
  expect(asked("-g", "stop", "--socket", "apply", "--run-dir=/x", "delete", "get")).toEqual(["delete"]);
});

test.each([[[]], [["--help"]], [["help", "get"]], [["gte"]], [["completion", "bash"]], [["-g", "get"]]])("%j needs all", (words) => {
  expect(asked(...words)).toEqual(ALL);
});
