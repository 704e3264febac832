import { describe, expect, it } from "vitest";
import { helpText } from "./help.ts";
import { FLAG_GROUPS } from "./manual/index.ts";
import { VERBS } from "./table/index.ts";

const words = (text: string) => text.replace(/\s+/g, " ");
const EVERY = [["the program", undefined] as const, ...VERBS.map((verb) => [verb.name, verb] as const)];

describe("help", () => {
  it("begins as runc's help begins", () => {
    expect(helpText().split("\n").slice(0, 2)).toEqual(["NAME:", "   runt - Open Container Initiative runtime"]);
  });

  it("has the name that the program was called by", () => {
    expect(helpText(undefined, "runc").split("\n").slice(0, 2)).toEqual(["NAME:", "   runc - Open Container Initiative runtime"]);
    for (const verb of VERBS) {
      const text = helpText(verb, "runc");
      expect(text.split("\n")[1]).toBe(`   runc ${verb.name} - ${verb.summary}`);
      expect(text).not.toMatch(/\brunt (create|run|exec|spec)\b/);
    }
    expect(helpText(undefined, "runc")).toContain("/run/runt");
  });

  it.each(VERBS.map((verb) => [verb.name, verb] as const))("names every flag of %s once, with its text", (_, verb) => {
    const text = helpText(verb);
    const options = /\nOPTIONS:\n([\s\S]*?)\n\nEXAMPLES:/.exec(text)?.[1] ?? "";
    for (const { name, help } of verb.flags.filter(({ hidden }) => !hidden)) {
      const heading = (line: string) => new RegExp(`^ +(-\\w, )?--${name}( |$)`).test(line);
      expect(options.split("\n").filter(heading), name).toHaveLength(1);
      expect(words(text)).toContain(words(help));
    }
    for (const { name } of verb.flags.filter(({ hidden }) => hidden)) expect(text).not.toContain(`--${name} `);
  });

  it.each(EVERY)("fits into 100 columns: %s", (_, verb) => {
    expect(
      helpText(verb)
        .split("\n")
        .filter((line) => line.length > 100),
    ).toEqual([]);
  });

  it.each(VERBS.map((verb) => [verb.name, verb] as const))("describes %s and shows examples that are calls of it", (name, verb) => {
    const text = helpText(verb);
    expect(text).toMatch(/^DESCRIPTION:\n {3}\S/m);
    expect(text).toMatch(new RegExp(`^EXAMPLES:\\n(   #.*\\n)?.*runt ${name}\\b`, "m"));
  });

  it("has no group of flags that no verb has", () => {
    const all = new Set(VERBS.flatMap(({ flags }) => flags.map(({ name }) => name)));
    expect(FLAG_GROUPS.flatMap(([, names]) => names).filter((name) => !all.has(name))).toEqual([]);
  });
});
