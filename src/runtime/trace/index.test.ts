import { expect, test } from "vitest";
import { parseTraceParent } from "./index.ts";

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT = "00f067aa0ba902b7";

test.each([
  [`00-${TRACE}-${PARENT}-01`, 1],
  [`00-${TRACE}-${PARENT}-00`, 0],
  [`cc-${TRACE}-${PARENT}-01`, 1],
  [`cc-${TRACE}-${PARENT}-01-what-comes-later`, 1],
])("%s", (text, flags) => {
  expect(parseTraceParent(text)).toEqual({ traceId: TRACE, parentId: PARENT, flags });
});

test.each([
  undefined,
  "",
  "nonsense",
  `ff-${TRACE}-${PARENT}-01`,
  `00-${TRACE}-${PARENT}-01-more`,
  `cc-${TRACE}-${PARENT}-01.more`,
  `00-${TRACE.toUpperCase()}-${PARENT}-01`,
  `00-${"0".repeat(32)}-${PARENT}-01`,
  `00-${TRACE}-${"0".repeat(16)}-01`,
  `00-${TRACE}-${PARENT}-1`,
  ` 00-${TRACE}-${PARENT}-01`,
  `00-${TRACE.slice(1)}-${PARENT}-01`,
])("%s is ignored", (text) => {
  expect(parseTraceParent(text)).toBeUndefined();
});
