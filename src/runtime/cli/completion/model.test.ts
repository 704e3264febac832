import { describe, expect, it, test } from "vitest";
import { VERBS } from "../table/index.ts";
import { completionScript } from "./index.ts";
import { commandModel, kindOf } from "./model.ts";

const model = commandModel();

describe("the model of completion", () => {
  it("has every verb of the table, and help", () => {
    expect(model.verbs.map(({ name }) => name)).toEqual([...VERBS.map(({ name }) => name), "help"]);
  });

  it("has what is shown of a verb, and --help", () => {
    const flags = model.verbs.find(({ name }) => name === "update")!.flags.map(({ name }) => name);
    expect(flags).toEqual(expect.arrayContaining(["memory", "help"]));
    expect(flags).not.toContain("kernel-memory");
  });

  it("knows positionals and where they end", () => {
    const exec = model.verbs.find(({ name }) => name === "exec")!;
    expect(exec.stopsAtFirst).toBe(true);
    expect(exec.positionals.map(({ kind, repeats }) => [kind, repeats])).toEqual([
      ["container", false],
      ["command", true],
    ]);
  });

  it.each(["bash", "zsh", "fish"])("the script for %s names every verb and every flag that is shown", (shell) => {
    const script = completionScript(shell) ?? "";
    for (const { name, flags } of model.verbs) {
      expect(script).toMatch(new RegExp(`(^|[^\\w-])${name}([^\\w-]|$)`, "m"));
      for (const flag of flags) expect(script).toMatch(new RegExp(`(--|-l )${flag.name}([^\\w-]|$)`, "m"));
    }
  });

  it("has no script for another shell", () => {
    expect(completionScript("tcsh")).toBeUndefined();
  });
});

test.each([
  ["<container-id>", "container"],
  ["[signal]", "signal"],
  ["[command...]", "command"],
  ["DIR", "directory"],
  ["FILE", "file"],
  ["<file>...", "file"],
  ["SOCKET", "file"],
  ["FILE|DIR", "file"],
  ["text|json", { words: ["text", "json"] }],
  ["<bash|zsh|fish>", { words: ["bash", "zsh", "fish"] }],
  ["N", "nothing"],
  ["<TYPE:NAME>", "nothing"],
])("%s", (placeholder, kind) => {
  expect(kindOf(placeholder)).toEqual(kind);
});
