import { describe, expect, it } from "vitest";
import { findProblems } from "../checks.ts";

describe("linux.personality", () => {
  const problems = (personality: object) =>
    findProblems({ ociVersion: "1.3.0", root: { path: "r" }, linux: { personality } }).map(({ code, pointer }) => [code, pointer]);

  it.each(["LINUX", "LINUX32"])("%s", (domain) => {
    expect(problems({ domain })).toEqual([]);
    expect(problems({ domain, flags: [] })).toEqual([]);
  });

  it.each([
    [{}, "personality-domain", "/linux/personality/domain"],
    [{ domain: "PER_LINUX" }, "personality-domain", "/linux/personality/domain"],
    [{ domain: "LINUX", flags: ["ADDR_NO_RANDOMIZE"] }, "personality-flag", "/linux/personality/flags/0"],
  ])("%j is refused", (personality, code, pointer) => {
    expect(problems(personality)).toEqual([[code, pointer]]);
  });
});
