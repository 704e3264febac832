import { describe, expect, it } from "vitest";
import { judge } from "../oci-validation/tap.ts";

const block = (value: object) => `  ---\n${JSON.stringify(value, null, 2).replaceAll(/^/gm, "  ")}\n  ...\n`;
const of = (stdout: string, status: number | undefined = 0, stderr = "") => judge({ status, stdout: `TAP version 13\n${stdout}`, stderr });

describe("clean", () => {
  it("only passed checks, whatever is told of them", () => {
    expect(of(`ok 1 - a\n${block({ error: "as it should be" })}ok 2 - b\n1..2\n`)).toEqual({ clean: true, passed: 2, failures: [] });
  });
  it("no checks and no error", () => {
    expect(of("1..0\n").clean).toBe(true);
    expect(of(`${block({ error: "" })}1..0\n`).clean).toBe(true);
  });
  it("nothing printed at all", () => {
    expect(judge({ status: 0, stdout: "", stderr: "failed to create the container" }).clean).toBe(true);
  });
});

describe("not clean", () => {
  it("a failed check, with what is told of it", () => {
    const { clean, passed, failures } = of(`ok 1 - a\nnot ok 2 - b\n# expect: 1\n${block({ level: "MUST" })}ok 3 - c\n1..3\n`);
    expect({ clean, passed }).toEqual({ clean: false, passed: 2 });
    expect(failures).toEqual(['not ok 2 - b\n# expect: 1\n    "level": "MUST"']);
  });
  it("no checks and an error", () => {
    expect(of(`${block({ error: "hooks MUST run" })}1..0\n`).failures).toEqual(["hooks MUST run"]);
  });
  it("an exit status, with the words on stderr", () => {
    expect(of("ok 1 - a\n1..1\n", 1, "exit status 1\n").failures).toEqual(["exit status 1: exit status 1"]);
  });
  it("an end before the plan", () => {
    expect(of("ok 1 - a\n").failures).toEqual(["it ended before its plan"]);
  });
  it("no end in time", () => {
    expect(judge({ status: undefined, stdout: "ok 1 - a\n", stderr: "" }).failures).toEqual(["the time was up"]);
  });
});
