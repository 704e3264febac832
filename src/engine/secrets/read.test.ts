import { expect, test } from "vitest";
import { redact } from "./read.ts";

test("a secret is hidden in each form that programs give it", () => {
  const secret = "s3cr/et Pa55";
  const text = `a ${secret} b ${Buffer.from(secret).toString("base64")} c ${encodeURIComponent(secret)} d`;
  expect(redact(text, [secret])).toBe("a [hidden] b [hidden] c [hidden] d");
});

test("the longest of them goes first, and what is too short stays", () => {
  expect(redact("user:password", ["password", "user:password", "r:p"])).toBe("[hidden]");
  expect(redact("a to z", ["to"])).toBe("a to z");
});
