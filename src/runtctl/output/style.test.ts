import { expect, test } from "vitest";
import { plain, printable, styleFor } from "./style.ts";

test("colours are for terminals, and NO_COLOR says no", () => {
  const variables =
    (values: Readonly<Record<string, string>> = {}) =>
    (name: string) =>
      values[name];
  expect(styleFor({ isTTY: true }, variables())("red", "x")).toBe("\u001b[31mx\u001b[39m");
  expect(styleFor({ isTTY: true }, variables({ NO_COLOR: "1" }))).toBe(plain);
  expect(styleFor({ isTTY: true }, variables({ TERM: "dumb" }))).toBe(plain);
  expect(styleFor({ isTTY: false }, variables())).toBe(plain);
});

test("control characters are shown, not sent", () => {
  expect(printable("a\u001b[2Jb\u009bc")).toBe("a\\x1b[2Jb\\x9bc");
});
