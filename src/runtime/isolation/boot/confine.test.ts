import { describe, expect, it } from "vitest";
import { profileOfBoot } from "./confine.ts";

const allowed = (hasInterfaces: boolean): string[] =>
  profileOfBoot(hasInterfaces)
    .split("\n")
    .filter((line) => line.startsWith("rule "))
    .flatMap((line) => line.split(" ").slice(3));

describe("the filter of the process that boots a machine", () => {
  it("starts no program, makes no process, mounts nothing, and makes no socket without a network", () => {
    const names = allowed(false);
    for (const name of ["execve", "clone", "fork", "mount", "setns", "ptrace", "socket", "bpf", "capset"]) {
      expect(names).not.toContain(name);
    }
  });

  it("makes netlink sockets only, where the machine has interfaces", () => {
    expect(profileOfBoot(true)).toMatch(/^rule \d+ 0:4:16:0 socket$/m);
    expect(allowed(true)).toContain("sendto");
  });
});
