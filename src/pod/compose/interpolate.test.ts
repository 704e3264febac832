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
  ["^a$", "^a$"],
  ["5$ each, $5, $(id -g)", "5$ each, $5, $(id -g)"],
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
  [`\${NAME/a/b}`, "is no form of a variable"],
  [`\${1}`, "names no variable"],
])("%j is refused: %s", (text, message) => {
  expect(() => interpolate(text, ENVIRONMENT)).toThrow(message);
});

test("each variable without a value and a default is told of", () => {
  const told: string[] = [];
  interpolate(`$NONE \${NO} \${NONE:-d} \${NONE-d} \${EMPTY} \${NONE+x} $$ESC \${X:-$IN}`, ENVIRONMENT, undefined, (name) =>
    told.push(name),
  );
  expect(told).toEqual(["NONE", "NO", "IN"]);
});
