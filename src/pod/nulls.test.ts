import { expect, test } from "vitest";
import { withoutNulls } from "./nulls.ts";

test("a field that is null is not given; in a map of texts it is an empty text, as for the JSON library of Go", () => {
  const value = { data: { FOO: null, data: null, a: "b" }, spec: { labels: null, list: [{ name: "x", value: null }] } };
  expect(withoutNulls(value, new Set(["data", "labels"]))).toEqual({
    data: { FOO: "", data: "", a: "b" },
    spec: { list: [{ name: "x" }] },
  });
  expect(withoutNulls(value)).toEqual({ data: { a: "b" }, spec: { list: [{ name: "x" }] } });
});
