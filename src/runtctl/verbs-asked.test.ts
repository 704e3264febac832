import { expect, test } from "vitest";
import { VERBS } from "./verbs/index.ts";
import { verbsAsked } from "./verbs-asked.ts";

const asked = async (...words: string[]) => (await verbsAsked(words)).map(({ name }) => name);
const ALL = VERBS.map(({ name }) => name);

test("only the verb that is named is loaded, whatever options stand before it", async () => {
  expect(await asked("get", "-w")).toEqual(["get"]);
  expect(await asked("-g", "stop", "--socket", "apply", "--run-dir=/x", "delete", "get")).toEqual(["delete"]);
});

test.each([[[]], [["--help"]], [["help", "get"]], [["gte"]], [["completion", "bash"]], [["-g", "get"]]])("%j needs all", async (words) => {
  expect(await asked(...words)).toEqual(ALL);
});
