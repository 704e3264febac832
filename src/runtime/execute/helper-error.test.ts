import { expect, it } from "vitest";
import { parseStartFailure } from "./helper-error.ts";

it("takes errno, path and text apart", () => {
  expect(parseStartFailure("8\n/bin/x\nexec")).toEqual({ errno: 8, path: "/bin/x", text: "exec" });
  expect(parseStartFailure("1\n\nhook:\nsecond line")).toEqual({ errno: 1, path: "", text: "hook:\nsecond line" });
});

it("is nothing when init left nothing", () => {
  expect(parseStartFailure("")).toBeUndefined();
});
