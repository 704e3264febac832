import { expect, test } from "vitest";
import { field } from "./field.ts";

test("all values are in one column; one that continues the line before has no label, and no colon either", () => {
  expect(field("Image", "x")).toBe("Image:          x");
  expect(field("", "because y")).toBe("                because y");
});
