import { describe, expect, it } from "vitest";
import { fromEntries, toEnvironment } from "./request.ts";

describe("the request of a monitor in its environment", () => {
  it.each(["", "a=b", "\n\u0000é€", "x".repeat(300_000), "€".repeat(100_000)])("is what it was", (text) => {
    const entries = toEnvironment({ text });
    expect(fromEntries(entries)).toEqual({ text });
    // MAX_ARG_STRLEN of the kernel, of which a NUL is one.
    for (const entry of entries) expect(Array.from(entry).length * 3).toBeLessThan(131_072);
  });

  it("is an error where there is none", () => {
    expect(() => fromEntries([])).toThrow(SyntaxError);
  });
});
