import { describe, expect, it } from "vitest";
import { suggestion } from "./commander.ts";

describe("suggestions", () => {
  it("finds the near word", () => {
    expect(suggestion(["creat", "id"])).toBe("did you mean create?");
    expect(suggestion(["help", "creat"])).toBe("did you mean create?");
    expect(suggestion(["create", "--bundel", "x", "id"])).toBe("did you mean --bundle?");
    expect(suggestion(["create", "-bundel", "x", "id"])).toBe("did you mean --bundle?");
  });
  it("is silent when nothing is near", () => {
    expect(suggestion(["frobnicate"])).toBeUndefined();
  });
});
