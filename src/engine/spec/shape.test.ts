import { expect, test } from "vitest";
import { z } from "zod";
import { shapeProblems } from "./shape.ts";

const schema = z.strictObject({
  name: z.string().min(1).max(3),
  list: z.array(z.string()).min(1),
  count: z.int().min(1).max(9),
  share: z.number().gt(0),
  mode: z.enum(["a", "b", "c"]),
  own: z.string().regex(/^x/, "begin it with x"),
});
const RIGHT = { name: "n", list: ["l"], count: 1, share: 1, mode: "a", own: "x" };

test.each<[object, string]>([
  [{ name: 5 }, "expected a string, not a number"],
  [{ name: undefined }, "is missing"],
  [{ name: null }, "expected a string, not null"],
  [{ name: "" }, "is empty"],
  [{ name: "long" }, "has to have at most 3 characters"],
  [{ list: {} }, "expected a list, not an object"],
  [{ list: [] }, "is empty"],
  [{ count: 1.5 }, "expected a whole number, not a number"],
  [{ count: 0 }, "has to be at least 1"],
  [{ count: 10 }, "has to be at most 9"],
  [{ share: 0 }, "has to be more than 0"],
  [{ mode: "d" }, 'expected "a", "b" or "c"'],
  [{ own: "y" }, "begin it with x"],
  [{ nam: "n" }, 'the field "nam" is not supported'],
])("the fault in %j has one line", (change, message) => {
  const { error } = schema.safeParse({ ...RIGHT, ...change });
  expect(shapeProblems(error!).map((problem) => problem.message)).toEqual([message]);
});
