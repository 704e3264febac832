import { describe, expect, it } from "vitest";
import type { Spec } from "../../spec/index.ts";
import { findProblems } from "../checks.ts";
import type { CheckFacts } from "../finding.ts";

const PROCESS = { cwd: "/", args: ["sh"] };
const spec = (change: Partial<Spec>): Spec => ({ ociVersion: "1.2.0", root: { path: "rootfs" }, process: PROCESS, ...change });
const codes = (change: Partial<Spec>, facts: CheckFacts) =>
  findProblems(spec(change), facts).map(({ code, pointer }) => `${code} ${pointer}`);

const APPARMOR = { process: { ...PROCESS, apparmorProfile: "docker-default" } };
const SELINUX = { process: { ...PROCESS, selinuxLabel: "u:r:t:s0" }, linux: { mountLabel: "u:r:t:s0" } };

it("refuses a label that the host cannot apply", () => {
  expect(codes(APPARMOR, { apparmor: false })).toEqual(["apparmor-off /process/apparmorProfile"]);
  expect(codes(SELINUX, { selinux: false })).toEqual(["selinux-off /process/selinuxLabel", "selinux-off /linux/mountLabel"]);
});

it("accepts it where the module is enabled, or nothing is known of the host", () => {
  for (const facts of [{ apparmor: true, selinux: true }, {}]) expect([...codes(APPARMOR, facts), ...codes(SELINUX, facts)]).toEqual([]);
});

it("accepts unconfined and empty labels everywhere", () => {
  const process = { ...PROCESS, apparmorProfile: "unconfined", selinuxLabel: "" };
  expect(codes({ process, linux: { mountLabel: "" } }, { apparmor: false, selinux: false })).toEqual([]);
});

it("asks for the host's facts only when there is a label", () => {
  const facts = {
    get apparmor(): boolean {
      throw new Error("asked");
    },
    get selinux(): boolean {
      throw new Error("asked");
    },
  };
  expect(codes({}, facts)).toEqual([]);
});

describe("linux.personality", () => {
  const problems = (personality: object) =>
    findProblems({ ociVersion: "1.3.0", root: { path: "r" }, linux: { personality } }).map(({ code, pointer }) => [code, pointer]);

  it.each(["LINUX", "LINUX32"])("%s", (domain) => {
    expect(problems({ domain })).toEqual([]);
    expect(problems({ domain, flags: [] })).toEqual([]);
  });

  it.each([
    [{}, "personality-domain", "/linux/personality/domain"],
    [{ domain: "PER_LINUX" }, "personality-domain", "/linux/personality/domain"],
    [{ domain: "LINUX", flags: ["ADDR_NO_RANDOMIZE"] }, "personality-flag", "/linux/personality/flags/0"],
  ])("%j is refused", (personality, code, pointer) => {
    expect(problems(personality)).toEqual([[code, pointer]]);
  });
});
