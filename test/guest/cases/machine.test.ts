/** The guest is what its mode promises: else every other result would mean something else. */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { CGROUPS, isUnified } from "../../support/cgroups.ts";

describe("the guest", () => {
  test("systemd is the first process and has started everything", () => {
    expect(readFileSync("/proc/1/comm", "utf8")).toBe("systemd\n");
    expect(execFileSync("systemctl", ["list-units", "--failed", "--plain", "--no-legend"], { encoding: "utf8" })).toBe("");
  });

  test("cgroups are of the version asked for", () => {
    const types = new Set(
      readFileSync("/proc/self/mountinfo", "utf8")
        .split("\n")
        .flatMap((line) => / - (cgroup2?) /.exec(line)?.[1] ?? []),
    );
    expect([...types]).toEqual([process.env["GUEST_MODE"] === "v2" ? "cgroup2" : "cgroup"]);
    expect(isUnified).toBe(process.env["GUEST_MODE"] === "v2");
  });

  test("the controllers that limits need are there", () => {
    const names = isUnified ? readFileSync(`${CGROUPS}/cgroup.controllers`, "utf8").trim().split(" ") : readdirSync(CGROUPS);
    expect(names).toEqual(expect.arrayContaining(["cpuset", "cpu", "memory", "pids", isUnified ? "io" : "blkio"]));
  });
});
