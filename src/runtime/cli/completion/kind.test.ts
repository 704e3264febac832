import { expect, test } from "vitest";
import { kindOf } from "./kind.ts";

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
