import { describe, expect, it, vi } from "vitest";
import { encodeUtf8 } from "../../../shared/text/index.ts";
import { printableConsole, quoted, withConsole } from "./console-log.ts";

vi.mock("../../host/index.ts", () => ({}));
vi.mock("../kernel.ts", () => ({}));

describe("the console of a guest", () => {
  it("is printable, whatever the guest writes", () => {
    expect(printableConsole(encodeUtf8("[ 1.0] panic\r\n\x1b]0;title\x07\tend\x7fé\n"))).toBe(
      "[ 1.0] panic\n\\x1b]0;title\\x07 end\\x7f\\xc3\\xa9\n",
    );
  });

  it("follows the reason of the end with its last lines", () => {
    expect(withConsole("it has ended", "")).toBe("it has ended");
    expect(withConsole("it has ended", "one\n\ntwo\n")).toBe("it has ended; the end of the guest's console:\n  | one\n  | two");
    const flood = Array.from({ length: 10_000 }, (_, line) => `line ${line}`).join("\n");
    const lines = withConsole("it has ended", flood).split("\n");
    expect(lines).toHaveLength(41);
    expect(lines.at(-1)).toBe("  | line 9999");
    expect(withConsole("it has ended", "x".repeat(100_000)).length).toBeLessThan(4100);
    expect(quoted("x".repeat(100_000))).toHaveLength(4000);
  });
});
