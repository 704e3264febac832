import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { examine } from "../../src/runtime/check/examine.ts";
import { REPOSITORY } from "../support/programs.ts";

const profile = JSON.parse(readFileSync(`${REPOSITORY}/test/fixtures/seccomp-default.json`, "utf8"));
const ALLOW = "SCMP_ACT_ALLOW";

function warningsOf(seccomp: object): string[] {
  const config = {
    ociVersion: "1.2.0",
    root: { path: "rootfs" },
    process: {
      args: ["/bin/sh"],
      cwd: "/",
      env: ["PATH=/bin"],
      user: { uid: 0, gid: 0 },
      capabilities: { bounding: ["CAP_CHOWN"], effective: ["CAP_CHOWN"], permitted: ["CAP_CHOWN"] },
    },
    mounts: [{ destination: "/proc", type: "proc", source: "proc" }],
    linux: { namespaces: [{ type: "pid" }, { type: "mount" }], seccomp },
  };
  return examine(JSON.stringify(config))
    .findings.filter(({ severity }) => severity !== "advice")
    .map(({ code }) => code);
}

it("the default profile of an engine has no standing warning", () => {
  expect(profile.syscalls.some(({ names }: { names: string[] }) => names.length > 200)).toBe(true);
  expect(warningsOf(profile)).toEqual([]);
});

it("nor has one that allows a call and refuses it again, as Podman's does with setns", () => {
  const syscalls = [...profile.syscalls, { names: ["setns"], action: ALLOW }, { names: ["setns"], action: "SCMP_ACT_ERRNO", errnoRet: 22 }];
  expect(warningsOf({ ...profile, syscalls })).toEqual([]);
});

it("a profile of somebody's own has", () => {
  const syscalls = [
    { names: ["execve", "exit_group", "setns"], action: ALLOW },
    { names: ["setns"], action: "SCMP_ACT_ERRNO", errnoRet: 22 },
  ];
  expect(warningsOf({ defaultAction: "SCMP_ACT_ERRNO", syscalls })).toEqual(["seccomp-two-answers"]);
});
