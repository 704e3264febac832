import { describe, expect, it } from "vitest";
import { helpText, suggestion } from "./commander.ts";
import { VERBS } from "./table/index.ts";

describe("help", () => {
  it("begins as runc's help begins", () => {
    expect(helpText().split("\n").slice(0, 2)).toEqual(["NAME:", "   runt - Open Container Initiative runtime"]);
  });

  it.each(VERBS.map((verb) => [verb.name, verb] as const))("names every flag of %s", (_, verb) => {
    const text = helpText(verb);
    for (const { name, help } of verb.flags.filter(({ hidden }) => !hidden)) {
      expect(text).toContain(`--${name}`);
      expect(text).toContain(help);
    }
  });
});

describe("suggestions", () => {
  it("finds the near word", () => {
    expect(suggestion(["creat", "id"])).toBe("did you mean create?");
    expect(suggestion(["create", "--bundel", "x", "id"])).toBe("did you mean --bundle?");
    expect(suggestion(["create", "-bundel", "x", "id"])).toBe("did you mean --bundle?");
  });

  it("is silent when nothing is near", () => {
    expect(suggestion(["frobnicate"])).toBeUndefined();
  });
});
