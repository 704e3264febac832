import { expect, test } from "vitest";
import { isSlice, parentSlice, taskSlice } from "./slice.ts";

test.each([
  ["/runtd", "default.web.1-0a1b", "runtd.slice", "runtd-default.web.1\\x2d0a1b.slice"],
  ["/runtd", "default.with-two-dashes.2-ff", "runtd.slice", "runtd-default.with\\x2dtwo\\x2ddashes.2\\x2dff.slice"],
  ["/a/b-c", "g.t.1-0", "a-b\\x2dc.slice", "a-b\\x2dc-g.t.1\\x2d0.slice"],
])("T5 below %s the slice of %s is one level below %s", (parent, name, above, slice) => {
  expect([parentSlice(parent), taskSlice(parent, name)]).toEqual([above, slice]);
  // systemd reads each remaining dash as a level.
  expect(slice.split("-").length).toBe(above.split("-").length + 1);
});

test("a path is none", () => {
  expect(["/runtd/a.slice", "/runtd/x", "runtd-x.slice"].map(isSlice)).toEqual([false, false, true]);
});
