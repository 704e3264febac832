import { expect, test } from "vitest";
import { fieldDifferences } from "./difference.ts";

test.each([
  [{ a: 1 }, { a: 1 }, []],
  [{ a: 1 }, { a: 2 }, [{ pointer: "/a", before: 1, after: 2 }]],
  [{ a: [1, 2] }, { a: [1] }, [{ pointer: "/a/1", before: 2 }]],
  [{ "x/y~": "" }, {}, [{ pointer: "/x~1y~0", before: "" }]],
  [{}, { b: { c: null } }, [{ pointer: "/b", after: { c: null } }]],
  [{ a: [1] }, { a: { 0: 1 } }, [{ pointer: "/a", before: [1], after: { 0: 1 } }]],
])("%j to %j", (before, after, fields) => {
  expect(fieldDifferences(before, after, "")).toEqual(fields);
});
