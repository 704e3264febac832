/** The helper that waits until a container is ready. */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { HELPER, HELPER_ASAN } from "../support/helper.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { program } from "../support/programs.ts";

const ANNOUNCE = join(import.meta.dirname, "../../build/test/announce");
const READY = "MAINPID=PID\nREADY=1\n|\n";
const BARRIER = "BARRIER=1|\n";

describe.each([
  ["as built", HELPER],
  ["sanitized", HELPER_ASAN],
])("notify: %s", (_, helper) => {
  const heard = (...words: readonly string[]) => execFileSync(ANNOUNCE, [helper, ...words], { encoding: "utf8", timeout: PATIENCE_MS });
  const said = (...texts: readonly string[]) => heard(program("notify"), ...texts);

  test("READY=1 on a line of its own is told with the pid, once, and nothing else", () => {
    expect(said("STATUS=a\\nREADY=1\\nFDSTORE=1", "READY=1", "STOPPING=1")).toBe(`${READY}${BARRIER}status 0\n`);
  });

  test.each([["READY=0"], ["READY=1 "], ["XREADY=1"], ["READY=11"], ["MAINPID=1"], ["\\n\\n"], [`READY=1${"x".repeat(5000)}`]])(
    "%j is nothing",
    (text) => {
      expect(said(text)).toBe("status 0\n");
    },
  );

  test("the last line needs no newline, and an empty one is none", () => {
    expect(said("", "A=1\\n\\nREADY=1")).toBe(`${READY}${BARRIER}status 0\n`);
  });

  test("it ends with init", () => {
    expect(heard("/bin/sleep", "0.2")).toBe("status 0\n");
  });

  test("words that are no descriptors are refused", () => {
    for (const words of [
      ["1", "2", "3"],
      ["1", "2", "x", "4"],
      ["-1", "2", "3", "4"],
    ]) {
      expect(() => execFileSync(helper, ["notify", ...words], { stdio: "ignore" })).toThrow(expect.objectContaining({ status: 2 }));
    }
  });
});
