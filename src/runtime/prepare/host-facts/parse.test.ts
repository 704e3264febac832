import { describe, expect, it } from "vitest";
import {
  capabilityNames,
  hugepageSize,
  mebibytes,
  parseFields,
  parseFilesystems,
  parseIdMap,
  parseLimits,
  parseMask,
  seccompActions,
} from "./parse.ts";
import { idmappedFilesystemsOf, seccompFlagsOf, systemCallsOf } from "./versions.ts";

describe("texts of /proc", () => {
  it("are read", () => {
    expect(parseIdMap("         0     100000      65536\n         1 5 1\n")).toEqual([
      { inside: 0, outside: 100_000, size: 65_536 },
      { inside: 1, outside: 5, size: 1 },
    ]);
    expect([...parseFields("Name:\tsh\nCapEff:\t0000000000000021\nGroups:\t\n")]).toEqual([
      ["Name", "sh"],
      ["CapEff", "0000000000000021"],
      ["Groups", ""],
    ]);
    expect(capabilityNames(parseMask("0000000000000021"))).toEqual(["CAP_CHOWN", "CAP_KILL"]);
    expect(capabilityNames(parseMask(undefined))).toEqual([]);
    const limits =
      "Limit                     Soft Limit           Hard Limit           Units     \nMax cpu time              unlimited            unlimited            seconds   \nMax open files            1024                 524288               files     \n";
    expect(parseLimits(limits)).toEqual({ RLIMIT_CPU: ["unlimited", "unlimited"], RLIMIT_NOFILE: ["1024", "524288"] });
    expect(mebibytes("16315412 kB")).toBe(15_933);
    expect(["hugepages-64kB", "hugepages-2048kB", "hugepages-1048576kB"].map(hugepageSize)).toEqual(["64KB", "2MB", "1GB"]);
    expect(seccompActions(["kill_process", "errno", "user_notif", "new_one"])).toEqual([
      "SCMP_ACT_KILL_PROCESS",
      "SCMP_ACT_ERRNO",
      "SCMP_ACT_NOTIFY",
    ]);
    expect(parseFilesystems("nodev\tproc\n\text4\n")).toEqual(["proc", "ext4"]);
  });
});

describe("what a version has", () => {
  it.each([
    ["5.11.99-generic", "close_range", "mount_setattr"],
    ["5.12.0", "mount_setattr", "memfd_create:exec"],
    ["6.3", "memfd_create:exec", "nothing"],
  ])("%s", (release, present, absent) => {
    expect(systemCallsOf(release)).toContain(present);
    expect(systemCallsOf(release)).not.toContain(absent);
  });

  it("is nothing for what is no version", () => {
    expect(systemCallsOf("custom")).toEqual([]);
    expect(idmappedFilesystemsOf("6.2.1")).not.toContain("tmpfs");
    expect(idmappedFilesystemsOf("6.3.0")).toContain("tmpfs");
    expect(seccompFlagsOf("5.19")).toContain("SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV");
  });
});
