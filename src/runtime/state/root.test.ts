import { describe, expect, it } from "vitest";
import { checkId } from "./root.ts";

describe("container id", () => {
  it.each(["a", "web-1", "A_b+c.d", "0", ".hidden", "x".repeat(1024)])("accepts %s", (id) => expect(() => checkId(id)).not.toThrow());
  it.each(["", ".", "..", "a/b", "../a", "a b", "a\n", "ä", "a\0", "x".repeat(1025)])("refuses %j", (id) => {
    expect(() => checkId(id)).toThrowError(expect.objectContaining({ code: "id-invalid" }));
  });
});
