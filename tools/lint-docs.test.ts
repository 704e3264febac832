import { describe, expect, it } from "vitest";
import { problemsOf } from "./lint-docs.ts";

const TREE = {
  "src/runtime/plan/ops.ts": "",
  "src/runtime/verbs/create.ts": "",
  "docs/a.md": "# A page\n\n## What is `there`, and why\n",
  Makefile: "bin/runt: x\ntest-unit test-native: x\n",
};

const problems = (file: string, text: string) => problemsOf(new Map(Object.entries({ ...TREE, [file]: text })));

describe("what pages and comments name", () => {
  it.each([
    ["src/runtime/plan/ops.ts"],
    ["`src/runtime/plan`, and src/runtime/plan/."],
    ["src/runtime/{plan/ops,verbs/create}.ts"],
    ["src/runtime/*/create.ts"],
    ["src/runtime/verbs/NAME.ts"],
    ["build/src/x.ts /usr/src/x.ts ROOT/docs/x"],
    ["[a](docs/a.md), [there](docs/a.md#what-is-there-and-why), [elsewhere](https://example.org/src/x)"],
    ["`make test-unit`, `make test-LANE`, `make build/x`, make believe"],
  ])("is there: %s", (text) => {
    expect(problems("README.md", text)).toEqual([]);
  });

  it.each([
    ["see src/runtime/plan/op.ts.", "README.md:1: src/runtime/plan/op.ts: it is not there"],
    ["src/runtime/{plan,verbs}/ops.ts", "README.md:1: src/runtime/{plan,verbs}/ops.ts: it is not there"],
    ["docs/*.txt", "README.md:1: docs/*.txt: it is not there"],
    ["[a](docs/b.md)", "README.md: docs/b.md: there is no such page"],
    ["[a](docs/a.md#nothing)", "README.md: docs/a.md#nothing: the page has no such heading"],
    ["`make test-units`", "README.md:1: make test-units: it is not there"],
  ])("is missing: %s", (text, problem) => {
    expect(problems("README.md", text)).toContain(problem);
  });

  it("links of a page are relative to it", () => {
    expect(problems("docs/b.md", "[a](a.md#a-page) [own](#b)\n# B\n")).toEqual([]);
    expect(problems("docs/b.md", "[a](docs/a.md)")).toEqual(["docs/b.md: docs/a.md: there is no such page"]);
  });

  it("is looked at in the comments of sources, not in their code", () => {
    const lost = "src/lost.ts";
    expect(problems("x/b.ts", `const a = "src/gone.ts";\n/** See ${lost}. */\n`)).toEqual([`x/b.ts:2: ${lost}: it is not there`]);
    expect(problems("tools/c.sh", `x=src/gone.ts\n# ${lost}\n`)).toEqual([`tools/c.sh:2: ${lost}: it is not there`]);
  });
});
