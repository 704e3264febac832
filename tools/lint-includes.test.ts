import { describe, expect, it } from "vitest";
import { callProblemsOf, problemsOf } from "./lint-includes.ts";

const problems = (files: Readonly<Record<string, string>>) => problemsOf(new Map(Object.entries(files)));

describe("what a C file may include", () => {
  it("is what lies below its room", () => {
    const files = {
      "shared/str.h": "",
      "testing/disabled_defences.h": "",
      "host/spawn.h": '#include "../shared/str.h"\n',
      "host/spawn.c": '#include "spawn.h"\n\n#include "../testing/disabled_defences.h"\n#include <errno.h>\n',
      "init/run.h": '#include "../shared/str.h"\n#include "ops.h"\n',
      "program/main.c": '#include "../host/spawn.h"\n#include "../shared/str.h"\n',
      "testing/points.c": '#include "../init/run.h"\n',
    };
    expect(problems(files)).toEqual([]);
  });

  it.each([
    ["shared/a.c", "host/b.h"],
    ["shared/a.c", "init/b.h"],
    ["host/a.c", "program/b.h"],
    ["host/a.h", "init/b.h"],
    ["init/a.c", "host/b.h"],
    ["init/a.c", "program/b.h"],
    ["program/a.c", "init/b.h"],
    ["testing/a.h", "shared/b.h"],
  ])("is nothing else: %s, %s", (path, other) => {
    expect(problems({ [path]: `  # include "../${other}"\n`, [other]: "" })).toEqual([
      expect.stringMatching(new RegExp(`^native-bindings/${path}: includes ${other}: \\w+ may not include \\w+$`)),
    ]);
  });

  it("is no circle", () => {
    const files = {
      "init/a.h": '#include "b.h"\n',
      "init/b.h": '#include "c.h"\n',
      "init/c.h": '#include "a.h"\n',
      "init/d.c": '#include "a.h"\n',
    };
    expect(problems(files)).toEqual(["native-bindings/init/a.h -> init/b.h -> init/c.h -> init/a.h: a circle"]);
  });
});

describe("calls between C files", () => {
  const calls = (symbols: Readonly<Record<string, string>>) => callProblemsOf(new Map(Object.entries(symbols)));

  it("go one way, also to what no file of ours has", () => {
    expect(calls({ "host/a.c": "f T 0 10\ng U\nwrite U\n", "host/b.c": "g T 0 8\nerrno U\n", "host/c.c": "f U\ng U\n" })).toEqual([]);
  });

  it("in a circle are found, of functions and of variables", () => {
    const symbols = { "host/a.c": "f T 0 10\ng U\n", "host/b.c": "g T 0 8\ncount U\n", "host/c.c": "count B 0 4\nf U\n" };
    expect(calls(symbols)).toEqual(["native-bindings/host/a.c -> host/b.c -> host/c.c -> host/a.c: a circle of calls"]);
  });
});
