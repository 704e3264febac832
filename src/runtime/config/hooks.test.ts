import { expect, it } from "vitest";
import { deriveHooks } from "./hooks.ts";

it("keeps the kinds that are asked for, with what each hook leaves out filled in", () => {
  const hooks = deriveHooks({
    poststop: [{ path: "/a", args: ["a", "-v"], env: ["X=1"], timeout: 3 }],
    prestart: [{ path: "/b" }, { path: "/c", args: [], env: [] }],
    createRuntime: [],
    poststart: null,
  });
  expect(hooks).toEqual({
    prestart: [
      { path: "/b", args: ["/b"], timeout: 0 },
      { path: "/c", args: ["/c"], env: [], timeout: 0 },
    ],
    poststop: [{ path: "/a", args: ["a", "-v"], env: ["X=1"], timeout: 3 }],
  });
});

it("bounds a time-out to what the timer counts", () => {
  expect(deriveHooks({ prestart: [{ path: "/a", timeout: 9_223_372_036_854_775_807n }] }).prestart?.[0]?.timeout).toBe(0xffff_ffff);
});

it("is empty without hooks", () => {
  expect(deriveHooks(undefined)).toEqual({});
  expect(deriveHooks(null)).toEqual({});
});
