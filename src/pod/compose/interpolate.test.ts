import { expect, test } from "vitest";
import { interpolate } from "./interpolate.ts";

const ENVIRONMENT = { NAME: "web", EMPTY: "" };

/** Compose specification, "Interpolation". */
test.each([
  ["plain", "plain"],
  ["$NAME-1", "web-1"],
  [`\${NAME}_1`, "web_1"],
  ["$NONE", ""],
  ["$$NAME", "$NAME"],
  [`\${NONE-d}\${EMPTY-d}`, "d"],
  [`\${NONE:-d}\${EMPTY:-d}`, "dd"],
  [`\${NAME:-d}`, "web"],
  [`\${NAME:?has to be there}`, "web"],
  [`\${NAME+r}\${NONE+r}\${EMPTY+r}`, "rr"],
  [`\${NAME:+r}\${EMPTY:+r}`, "r"],
  [`\${NONE:-\${EMPTY:-\${NAME}}}`, "web"],
])("%j is %j", (text, expected) => {
  expect(interpolate(text, ENVIRONMENT)).toBe(expected);
});

test.each([
  [`\${NONE:?say it}`, "the variable NONE is not set: say it"],
  [`\${EMPTY:?}`, "the variable EMPTY is not set"],
  [`\${NAME`, "is not closed"],
  ["$ 5", "begins no variable"],
  [`\${NAME/a/b}`, "is no form of a variable"],
  [`\${1}`, "names no variable"],
])("%j is refused: %s", (text, message) => {
  expect(() => interpolate(text, ENVIRONMENT)).toThrow(message);
});
