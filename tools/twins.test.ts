/** What is in C although TypeScript does it as well has a reason and a test (native-bindings/twins). */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const FOLDER = "native-bindings/twins";
/** Files of ours that a text names. */
const files = (text: string) => text.match(/\b(?:src|test)\/[\w./-]+\.(?:test\.)?[a-z]+\b/g) ?? [];

test.each(readdirSync(FOLDER).filter((name) => name.endsWith(".c")))(
  "%s names its twin, a test that compares both, and the gain",
  (name) => {
    const [comment = ""] = /^\/\*.*?\*\//s.exec(readFileSync(join(FOLDER, name), "utf8")) ?? [];
    const [, twin = "", compared = "", page = "", section = ""] =
      /Twin: (.*?)\. Compared by: (.*?)\. Gain: ([\w./-]+)#([\w-]+)\./s.exec(comment.replaceAll(/\s+\*? */g, " ")) ?? [];
    expect(twin).toMatch(/src\/runtime|JSON\.parse/);
    expect(files(compared).length).toBeGreaterThan(0);
    for (const path of files(comment)) expect(existsSync(path), path).toBe(true);
    expect(readFileSync(page, "utf8")).toMatch(new RegExp(`^## .?${section}.?$`, "m"));
  },
);
