import { describe, expect, it } from "vitest";
import { rowsOf } from "./ps.ts";

describe("rows of ps", () => {
  it("are the heading and those of the container's pids, wherever the column stands", () => {
    const output =
      "UID          PID    PPID CMD\nroot           1       0 init\nroot         120       1 sh -c 1 2 3\nroot         121     120 sleep\n";
    expect(rowsOf(output, new Set(["120"]))).toBe("UID          PID    PPID CMD\nroot         120       1 sh -c 1 2 3\n");
    expect(rowsOf("    PID CMD\n      1 init\n", new Set(["1", "7"]))).toBe("    PID CMD\n      1 init\n");
  });

  it("need a PID column", () => {
    expect(() => rowsOf("CMD\ninit\n", new Set(["1"]))).toThrow("couldn't find PID field in ps output");
  });
});
