import { describe, expect, it } from "vitest";
import { LARGEST_BYTES, LONGEST_LINES, problemsOf, type TreeFile } from "./lint-tree.ts";

const file = (path: string, text: string | undefined = "", bytes = text?.length ?? 0): TreeFile => ({ path, bytes, text });

describe("what may be committed", () => {
  it("has no unlisted file or folder at the root", () => {
    const found = problemsOf([file("README.md"), file("src/a.ts"), file("l.sh"), file("scratch/a.ts")]);
    expect(found).toEqual([expect.stringMatching(/^l\.sh: not a name/), expect.stringMatching(/^scratch\/a\.ts: not a name/)]);
  });

  it("has no large file that is no fixture", () => {
    const large = LARGEST_BYTES + 1;
    const found = problemsOf([
      file("docs/a.svg", "", LARGEST_BYTES),
      file("docs/b.svg", "", large),
      file("bench/perf.data", undefined, large),
      file("package-lock.json", "", large),
    ]);
    expect(found).toEqual([expect.stringMatching(/^docs\/b\.svg: /), expect.stringMatching(/^bench\/perf\.data: /)]);
  });

  it("has no long source file that is no table", () => {
    const [most, more] = ["\n".repeat(LONGEST_LINES), "\n".repeat(LONGEST_LINES + 1)];
    const found = problemsOf([
      file("src/a.ts", most),
      file("src/b.test.ts", more),
      file("native-bindings/init/c.c", more),
      file("docs/d.md", more),
      file("native-bindings/host/host.d.ts", more),
    ]);
    expect(found).toEqual([
      expect.stringMatching(/^src\/b\.test\.ts: 351 lines/),
      expect.stringMatching(/^native-bindings\/init\/c\.c: 351 lines/),
    ]);
  });

  it.each(["home/somebody/runt", "work/main/bin/runt", "Users/somebody/x", "workspace/runt"])("names no path of a machine: %s", (path) => {
    const found = problemsOf([file("docs/a.md", `first\nsee /${path} there`)]);
    expect(found).toEqual([`docs/a.md:2: /${path}: a path of one machine`]);
  });

  it.each(["/home/me/.config", "a/home/x", "$HOME/work/main", "/path/to/runt", "/tmp/mine", "/work/here"])("takes %s", (path) => {
    expect(problemsOf([file("docs/a.md", path)])).toEqual([]);
  });

  it("names unit tests that replace modules so that they share them with none", () => {
    const text = 'import { vi } from "vitest";\nvi.mock("./x.ts", () => ({}));\n';
    const found = problemsOf([file("src/a.test.ts", text), file("src/a.mocked.test.ts", text), file("test/findings/a.test.ts", text)]);
    expect(found).toEqual([expect.stringMatching(/^src\/a\.test\.ts: replaces modules/)]);
  });
});
