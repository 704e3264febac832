import { expect, test } from "vitest";
import { commonAncestor } from "./unit-driver.ts";

test.each([
  ["/user.slice/user@1.service/app.slice/x", "/user.slice/user@1.service/user.slice/c.scope", "/user.slice/user@1.service"],
  ["/user.slice/session-1.scope", "/user.slice/user@1.service/c.scope", "/user.slice"],
  ["/a/b", "/a/bc", "/a"],
  ["/a", "/b", ""],
  ["/", "/a", ""],
  ["/a/b", "/a/b", "/a/b"],
])("%s and %s", (one, other, expected) => {
  expect(commonAncestor(one, other)).toBe(expected);
});
