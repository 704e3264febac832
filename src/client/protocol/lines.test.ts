import { expect, test } from "vitest";
import { linesOf } from "./lines.ts";

test("lines of chunks, however they are cut", async () => {
  async function* chunks() {
    for (const text of ["a", "b\n", "\nc", "d\nlast"]) yield Buffer.from(text);
  }
  const lines: string[] = [];
  for await (const line of linesOf(chunks())) lines.push(line.toString());
  expect(lines).toEqual(["ab", "", "cd", "last"]);
});
