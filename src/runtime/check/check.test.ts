import { describe, expect, it } from "vitest";
import containerd from "../../../test/fixtures/specs/containerd.json";
import podman from "../../../test/fixtures/specs/podman.json";
import type { Spec } from "../spec/index.ts";
import { checkSpec, findProblems } from "./checks.ts";
import type { CheckFacts } from "./finding.ts";

const PROCESS = { cwd: "/", args: ["sh"] };
const MINIMAL: Spec = { ociVersion: "1.0.2", root: { path: "rootfs" }, process: PROCESS };
const MAP = { containerID: 0, hostID: 100000, size: 65536 };
const USER = [{ type: "user" }];

const codes = (change: Partial<Spec>, facts?: CheckFacts): string[] =>
  findProblems({ ...MINIMAL, ...change }, facts).map(({ code }) => code);
const MKDIR = { names: ["mkdir"], action: "SCMP_ACT_ERRNO" };
const NOTIFY = { ...MKDIR, action: "SCMP_ACT_NOTIFY" };
const seccomp = (change: object): Partial<Spec> => ({ linux: { seccomp: { defaultAction: "SCMP_ACT_ALLOW", ...change } } });
const namespaces = (...types: string[]) => types.map((type) => ({ type }));

describe("accepted", () => {
  it.each<[string, Partial<Spec>]>([
    ["the smallest configuration", {}],
    ["no process", { process: null }],
    ["a pre-release", { ociVersion: "1.0.2-dev" }],
    ["a build suffix", { ociVersion: "1.2.0+dev" }],
    ["the highest id", { process: { ...PROCESS, user: { uid: 4294967294, gid: 4294967294, additionalGids: [4294967294] } } }],
    ["all rlimits", { process: { ...PROCESS, rlimits: [{ type: "RLIMIT_NOFILE", soft: 1, hard: 18446744073709551615n }] } }],
    ["hostname with namespace", { hostname: "x", domainname: "y", linux: { namespaces: namespaces("uts") } }],
    [
      "a mapped user",
      { linux: { namespaces: USER, uidMappings: [MAP], gidMappings: [MAP] }, process: { ...PROCESS, user: { uid: 65535, gid: 1 } } },
    ],
    ["a proc mount", { mounts: [{ destination: "/proc", type: "proc" }] }],
    ["the host's proc", { mounts: [{ destination: "/proc", source: "/proc", options: ["rbind"] }] }],
    ["lxcfs files", { mounts: [{ destination: "/proc/meminfo", source: "/var/lib/lxcfs/proc/meminfo", options: ["bind"] }] }],
    ["a fifo without numbers", { linux: { devices: [{ path: "/dev/f", type: "p" }] } }],
    [
      "a wildcard rule",
      {
        linux: {
          resources: {
            devices: [
              { allow: false, access: "rwm" },
              { allow: true, type: "c", major: -1, minor: -1, access: "m" },
            ],
          },
        },
      },
    ],
    ["an empty filter", { linux: { seccomp: {} } }],
    ["a filter", seccomp({ syscalls: [{ ...MKDIR, errnoRet: 4095 }], architectures: null, flags: [], listenerPath: "/unused" })],
    ["a listener", seccomp({ syscalls: [NOTIFY], listenerPath: "/l", listenerMetadata: "m" })],
    ["unlimited memory", { linux: { resources: { memory: { limit: -1, swap: -1 } } } }],
    ["swap unlimited", { linux: { resources: { memory: { limit: 1000, swap: -1 } } } }],
    [
      "time offsets",
      { linux: { namespaces: namespaces("time"), timeOffsets: { monotonic: { secs: -1 }, boottime: { nanosecs: 999999999 } } } },
    ],
  ])("%s", (_name, change) => expect(codes(change)).toEqual([]));
});

it.each(["1.0.0", "1.0.0-rc1", "1.0.1", "1.0.2", "1.1.0", "1.1.0-rc.3", "1.2.0", "1.2.1", "1.3.0", "1.3.0+dev", "1.3.1"])(
  "accepts ociVersion %s",
  (ociVersion) => expect(codes({ ociVersion })).toEqual([]),
);

describe("refused", () => {
  it.each<[string, Partial<Spec>, string]>([
    ["oci-version-syntax", { ociVersion: "1.2" }, "/ociVersion"],
    ["oci-version-syntax", { ociVersion: "v1.2.0" }, "/ociVersion"],
    ["oci-version-syntax", { ociVersion: "01.2.0" }, "/ociVersion"],
    ["oci-version-syntax", { ociVersion: "" }, "/ociVersion"],
    ["oci-version-unknown", { ociVersion: "2.0.0" }, "/ociVersion"],
    ["oci-version-unknown", { ociVersion: "0.9.0" }, "/ociVersion"],
    ["root-missing", { root: null }, "/root"],
    ["root-path-empty", { root: { path: "" } }, "/root/path"],
    ["nul-byte", { root: { path: "a\0b" } }, "/root/path"],
    ["nul-byte", { mounts: [{ destination: "/x", type: "tmpfs", options: ["a\0"] }] }, "/mounts"],
    ["nul-byte", { process: { ...PROCESS, args: ["sh", "\0"] } }, "/process/args"],
    ["cwd-empty", { process: { ...PROCESS, cwd: "" } }, "/process/cwd"],
    ["cwd-relative", { process: { ...PROCESS, cwd: "rel" } }, "/process/cwd"],
    ["args-empty", { process: { cwd: "/", args: [] } }, "/process/args"],
    ["args-empty", { process: { cwd: "/" } }, "/process/args"],
    ["args-empty", { process: { cwd: "/", args: [""] } }, "/process/args/0"],
    ["user-no-id", { process: { ...PROCESS, user: { uid: 4294967295 } } }, "/process/user/uid"],
    ["user-no-id", { process: { ...PROCESS, user: { gid: 4294967295 } } }, "/process/user/gid"],
    ["user-no-id", { process: { ...PROCESS, user: { additionalGids: [0, 4294967295] } } }, "/process/user/additionalGids/1"],
    ["rlimit-unknown", { process: { ...PROCESS, rlimits: [{ type: "RLIMIT_TEST", soft: 1, hard: 1 }] } }, "/process/rlimits/0/type"],
    [
      "rlimit-duplicate",
      {
        process: {
          ...PROCESS,
          rlimits: [
            { type: "RLIMIT_AS", soft: 1, hard: 1 },
            { type: "RLIMIT_AS", soft: 2, hard: 2 },
          ],
        },
      },
      "/process/rlimits/1/type",
    ],
    [
      "rlimit-order",
      { process: { ...PROCESS, rlimits: [{ type: "RLIMIT_AS", soft: 18446744073709551615n, hard: 1 }] } },
      "/process/rlimits/0/soft",
    ],
    ["oom-score-range", { process: { ...PROCESS, oomScoreAdj: -1001 } }, "/process/oomScoreAdj"],
    ["oom-score-range", { process: { ...PROCESS, oomScoreAdj: 1001 } }, "/process/oomScoreAdj"],
    ["namespace-unknown", { linux: { namespaces: namespaces("foo") } }, "/linux/namespaces/0/type"],
    ["namespace-duplicate", { linux: { namespaces: namespaces("pid", "pid") } }, "/linux/namespaces/1/type"],
    ["namespace-path-relative", { linux: { namespaces: [{ type: "ipc", path: "proc/1/ns/ipc" }] } }, "/linux/namespaces/0/path"],
    ["hostname-shared", { hostname: "x" }, "/hostname"],
    ["domainname-shared", { domainname: "x" }, "/domainname"],
    ["hostname-long", { hostname: "é".repeat(33), linux: { namespaces: namespaces("uts") } }, "/hostname"],
    ["time-offsets-shared", { linux: { timeOffsets: { monotonic: { secs: 1 } } } }, "/linux/timeOffsets"],
    [
      "time-offsets-joined",
      { linux: { namespaces: [{ type: "time", path: "/x" }], timeOffsets: { monotonic: {} } } },
      "/linux/timeOffsets",
    ],
    ["time-clock-unknown", { linux: { namespaces: namespaces("time"), timeOffsets: { realtime: {} } } }, "/linux/timeOffsets/realtime"],
    [
      "time-nanosecs-range",
      { linux: { namespaces: namespaces("time"), timeOffsets: { boottime: { nanosecs: 1e9 } } } },
      "/linux/timeOffsets/boottime/nanosecs",
    ],
    ["mappings-without-namespace", { linux: { uidMappings: [MAP] } }, "/linux/uidMappings"],
    ["mappings-missing", { linux: { namespaces: USER, uidMappings: [MAP] } }, "/linux/gidMappings"],
    [
      "mappings-root",
      {
        linux: { namespaces: USER, uidMappings: [{ ...MAP, containerID: 1 }], gidMappings: [MAP] },
        process: { ...PROCESS, user: { uid: 1 } },
      },
      "/linux/uidMappings",
    ],
    [
      "mapping-empty",
      { linux: { namespaces: USER, uidMappings: [MAP, { containerID: 70000, hostID: 1, size: 0 }], gidMappings: [MAP] } },
      "/linux/uidMappings/1/size",
    ],
    [
      "mapping-range",
      { linux: { namespaces: USER, uidMappings: [{ ...MAP, hostID: 4294967295, size: 2 }], gidMappings: [MAP] } },
      "/linux/uidMappings/0",
    ],
    [
      "mapping-overlap",
      { linux: { namespaces: USER, uidMappings: [MAP], gidMappings: [MAP, { containerID: 65535, hostID: 1, size: 1 }] } },
      "/linux/gidMappings/1",
    ],
    [
      "mappings-many",
      {
        linux: {
          namespaces: USER,
          gidMappings: [MAP],
          uidMappings: Array.from({ length: 341 }, (_, i) => ({ containerID: i, hostID: 1000 + i, size: 1 })),
        },
      },
      "/linux/uidMappings",
    ],
    [
      "user-not-mapped",
      { linux: { namespaces: USER, uidMappings: [MAP], gidMappings: [MAP] }, process: { ...PROCESS, user: { uid: 65536 } } },
      "/process/user/uid",
    ],
    [
      "user-not-mapped",
      {
        linux: { namespaces: USER, uidMappings: [MAP], gidMappings: [MAP] },
        process: { ...PROCESS, user: { additionalGids: [1, 70000] } },
      },
      "/process/user/additionalGids/1",
    ],
    ["mount-destination-empty", { mounts: [{ destination: "" }] }, "/mounts/0/destination"],
    ["mount-on-root", { mounts: [{ destination: "/x/..", type: "tmpfs" }] }, "/mounts/0/destination"],
    ["mount-mappings-half", { mounts: [{ destination: "/x", uidMappings: [MAP] }] }, "/mounts/0"],
    ["mount-on-proc", { mounts: [{ destination: "/proc/", type: "tmpfs", source: "/vol" }] }, "/mounts/0/destination"],
    ["mount-inside-proc", { mounts: [{ destination: "//proc/sys/kernel", source: "/vol", options: ["bind"] }] }, "/mounts/0/destination"],
    ["hidden-paths-shared", { linux: { maskedPaths: ["/x"] } }, "/linux/maskedPaths"],
    ["hidden-path-empty", { linux: { namespaces: namespaces("mount"), maskedPaths: ["/x", ""] } }, "/linux/maskedPaths/1"],
    ["device-path", { linux: { devices: [{ path: "dev/x", type: "p" }] } }, "/linux/devices/0/path"],
    ["device-type", { linux: { devices: [{ path: "/dev/x", type: "x", major: 1, minor: 1 }] } }, "/linux/devices/0/type"],
    ["device-number-missing", { linux: { devices: [{ path: "/dev/x", type: "c", major: 1 }] } }, "/linux/devices/0/minor"],
    ["device-number-range", { linux: { devices: [{ path: "/dev/x", type: "b", major: 4096, minor: 1 }] } }, "/linux/devices/0/major"],
    ["device-rule-type", { linux: { resources: { devices: [{ allow: true, type: "p" }] } } }, "/linux/resources/devices/0/type"],
    ["device-rule-access", { linux: { resources: { devices: [{ allow: true, access: "xR" }] } } }, "/linux/resources/devices/0/access"],
    ["device-rule-number", { linux: { resources: { devices: [{ allow: true, major: -2 }] } } }, "/linux/resources/devices/0"],
    ["memory-negative", { linux: { resources: { memory: { limit: -2 } } } }, "/linux/resources/memory/limit"],
    ["memory-swap-low", { linux: { resources: { memory: { limit: 9223372036854775807n, swap: 100 } } } }, "/linux/resources/memory/swap"],
    ["memory-swappiness", { linux: { resources: { memory: { swappiness: 101 } } } }, "/linux/resources/memory/swappiness"],
    ["cpu-burst", { linux: { resources: { cpu: { quota: 1000, burst: 2000 } } } }, "/linux/resources/cpu/burst"],
    [
      "weight-device-empty",
      { linux: { resources: { blockIO: { weightDevice: [{ major: 8, minor: 0 }] } } } },
      "/linux/resources/blockIO/weightDevice/0",
    ],
    ["weight-range", { linux: { resources: { blockIO: { weight: 9 } } } }, "/linux/resources/blockIO/weight"],
    ["weight-range", { linux: { resources: { blockIO: { leafWeight: 1001 } } } }, "/linux/resources/blockIO/leafWeight"],
    [
      "weight-range",
      { linux: { resources: { blockIO: { weightDevice: [{ major: 8, minor: 0, weight: 5 }] } } } },
      "/linux/resources/blockIO/weightDevice/0/weight",
    ],
    [
      "page-size",
      { linux: { resources: { hugepageLimits: [{ pageSize: "../x", limit: 1 }] } } },
      "/linux/resources/hugepageLimits/0/pageSize",
    ],
    ["rdma-empty", { linux: { resources: { rdma: { a: {} } } } }, "/linux/resources/rdma/a"],
    ["unified-key", { linux: { resources: { unified: { "../x.y": "1" } } } }, "/linux/resources/unified/..~1x.y"],
    ["unified-key", { linux: { resources: { unified: { foo: "1" } } } }, "/linux/resources/unified/foo"],
    ["cgroups-path", { linux: { cgroupsPath: "/a/../../x" } }, "/linux/cgroupsPath"],
    ["seccomp-default", { linux: { seccomp: { syscalls: [MKDIR] } } }, "/linux/seccomp/defaultAction"],
    ["seccomp-action", { linux: { seccomp: { defaultAction: "SCMP_ACT_X" } } }, "/linux/seccomp/defaultAction"],
    ["seccomp-action", seccomp({ syscalls: [{ ...MKDIR, action: "toString" }] }), "/linux/seccomp/syscalls/0/action"],
    ["seccomp-errno", seccomp({ defaultErrnoRet: 0 }), "/linux/seccomp/defaultErrnoRet"],
    ["seccomp-errno", seccomp({ syscalls: [{ ...MKDIR, errnoRet: 4096 }] }), "/linux/seccomp/syscalls/0/errnoRet"],
    ["seccomp-names", seccomp({ syscalls: [{ ...MKDIR, names: [] }] }), "/linux/seccomp/syscalls/0/names"],
    ["seccomp-architecture", seccomp({ architectures: ["SCMP_ARCH_X86", "x86"] }), "/linux/seccomp/architectures/1"],
    ["seccomp-flag", seccomp({ flags: ["TSYNC"] }), "/linux/seccomp/flags/0"],
    [
      "seccomp-argument",
      seccomp({ syscalls: [{ ...MKDIR, args: [{ index: 6, value: 0, op: "SCMP_CMP_EQ" }] }] }),
      "/linux/seccomp/syscalls/0/args/0/index",
    ],
    [
      "seccomp-operator",
      seccomp({ syscalls: [{ ...MKDIR, args: [{ index: 5, value: 0, op: "EQ" }] }] }),
      "/linux/seccomp/syscalls/0/args/0/op",
    ],
    ["seccomp-metadata", seccomp({ listenerMetadata: "x" }), "/linux/seccomp/listenerMetadata"],
    ["seccomp-notify", { linux: { seccomp: { defaultAction: "SCMP_ACT_NOTIFY", listenerPath: "/l" } } }, "/linux/seccomp/defaultAction"],
    ["seccomp-listener", seccomp({ syscalls: [NOTIFY] }), "/linux/seccomp/syscalls/0/action"],
    ["seccomp-notify", seccomp({ syscalls: [{ ...NOTIFY, names: ["sendmsg"] }], listenerPath: "/l" }), "/linux/seccomp/syscalls/0/action"],
    [
      "seccomp-notify",
      seccomp({ syscalls: [MKDIR, { ...NOTIFY, names: ["read", "write"] }], listenerPath: "/l" }),
      "/linux/seccomp/syscalls/1/names",
    ],
    ["annotation-key-empty", { annotations: { "": "x" } }, "/annotations/"],
  ])("%s", (code, change, pointer) => {
    expect(findProblems({ ...MINIMAL, ...change })).toEqual([
      expect.objectContaining({ code, severity: "error", pointer, message: expect.any(String) }),
    ]);
    expect(() => checkSpec({ ...MINIMAL, ...change })).toThrow(
      expect.objectContaining({ code: "config-invalid", details: expect.objectContaining({ pointer }) }),
    );
  });

  it("rootless containers without a user namespace, when the caller is known", () => {
    expect(codes({}, { rootless: true })).toEqual(["rootless-user-namespace"]);
    expect(codes({}, { rootless: false })).toEqual([]);
  });
});

describe("warned about", () => {
  it.each<[string, Partial<Spec>]>([
    ["oci-version-newer", { ociVersion: "1.99.0" }],
    ["ambient-not-inheritable", { process: { ...PROCESS, capabilities: { ambient: ["CAP_KILL"], permitted: ["CAP_KILL"] } } }],
    ["hidden-path-relative", { linux: { namespaces: namespaces("mount"), readonlyPaths: ["x"] } }],
    ["device-rule-letters", { linux: { resources: { devices: [{ allow: true, access: "rwa" }] } } }],
    [
      "field-case-taken",
      { linux: { resources: { hugepageLimits: [{ pageSize: "2MB", pagesize: "2MB", limit: 1 }] } } } as unknown as Partial<Spec>,
    ],
    ["mappings-ignored", { linux: { namespaces: [{ type: "user", path: "/x" }], uidMappings: [MAP] } }],
    [
      "device-duplicate",
      {
        linux: {
          devices: [
            { path: "/dev/x", type: "c", major: 1, minor: 3 },
            { path: "/dev/y", type: "u", major: 1, minor: 3 },
          ],
        },
      },
    ],
  ])("%s", (code, change) => {
    expect(checkSpec({ ...MINIMAL, ...change }).map((finding) => [finding.code, finding.severity])).toEqual([[code, "warning"]]);
  });
});

it("reports all errors, and throws the first with its remedy", () => {
  expect(codes({ ociVersion: "x", root: null, hostname: "h" })).toEqual(["oci-version-syntax", "root-missing", "hostname-shared"]);
  expect(() => checkSpec({ ...MINIMAL, ociVersion: "x" })).toThrow(
    expect.objectContaining({ details: { finding: "oci-version-syntax", pointer: "/ociVersion", hint: 'use "1.3.0"' } }),
  );
});

it.each<[string, Spec]>([
  ["containerd", containerd],
  ["podman", podman],
])("finds nothing in the configuration of %s", (_name, spec) => {
  expect(findProblems(spec)).toEqual([]);
});
