import { describe, expect, it } from "vitest";
import containerd from "../../../test/fixtures/specs/containerd.json";
import podman from "../../../test/fixtures/specs/podman.json";
import { RuntError } from "../errors/index.ts";
import { parsePart, parseSpec } from "./load.ts";

const MINIMAL = { ociVersion: "1.0.2", process: { cwd: "/", args: ["sh"] }, root: { path: "rootfs" } };

function refusal(text: string, exact = false): RuntError {
  try {
    parseSpec(text, exact);
  } catch (error) {
    if (error instanceof RuntError) return error;
    throw error;
  }
  throw new Error("accepted");
}

const withField = (change: object): string => JSON.stringify({ ...MINIMAL, ...change });

describe("parseSpec", () => {
  it.each([
    ["containerd", containerd],
    ["podman", podman],
  ])("reads the configuration of %s, exact or not, to the same value", (_name, document) => {
    const text = JSON.stringify(document);
    expect(parseSpec(text, false)).toEqual(document);
    expect(parseSpec(text, true)).toEqual(document);
  });

  it("takes pagesize for pageSize, and nothing for what is not there", () => {
    const limits = (entry: object) => withField({ linux: { resources: { hugepageLimits: [entry] } } });
    expect(parseSpec(limits({ pagesize: "2MB", limit: 1 }), false).linux?.resources?.hugepageLimits?.[0]?.pageSize).toBe("2MB");
    expect(parsePart('{"hugepageLimits":[{"pagesize":"2MB","limit":1}]}', true, "resources", "f").linux?.resources).toMatchObject({
      hugepageLimits: [{ pageSize: "2MB" }],
    });
    expect(refusal(limits({ limit: 1 })).message).toContain("/linux/resources/hugepageLimits/0/pageSize: required but missing");
    expect(refusal(limits({ pagesize: 2, limit: 1 })).message).toContain("/pageSize: required but missing");
  });

  it("names file, line and column of a syntax error", () => {
    const error = refusal('{\n  "ociVersion": "1.0.2",\n  "process": {,\n}');
    expect(error.code).toBe("config-syntax");
    expect(error.message).toBe('config.json:3:15: expected a field name in double quotes, found ","');
    expect(error.details).toEqual({ line: 3, column: 15 });
  });

  it("names pointer, line and column of a wrong type", () => {
    const error = refusal('{\n "ociVersion": "1.0.2",\n "process": {\n  "cwd": 7,\n  "args": ["sh"]\n }\n}');
    expect(error.code).toBe("config-schema");
    expect(error.message).toBe("config.json:4:10: /process/cwd: expected string, found number");
    expect(error.details).toMatchObject({ pointer: "/process/cwd", line: 4, column: 10 });
  });

  it.each([
    ["null", "config cannot be null"],
    ["[]", "config.json:1:1: expected object, found array"],
    ['"x"', "config.json:1:1: expected object, found string"],
    ["{}", "config.json:1:1: /ociVersion: required but missing"],
    [withField({ process: { args: ["sh"] } }), "/process/cwd: required but missing"],
    [withField({ process: { cwd: "/", args: "sh" } }), "/process/args: expected array, found string"],
    [withField({ process: { cwd: "/", args: ["sh", 1] } }), "/process/args/1: expected string, found number"],
    [withField({ process: { cwd: "/", user: { uid: -1 } } }), "/process/user/uid: expected an integer from 0 to 4294967295, found -1"],
    [
      withField({ process: { cwd: "/", user: { uid: 4294967296 } } }),
      "/process/user/uid: expected an integer from 0 to 4294967295, found 4294967296",
    ],
    [withField({ process: { cwd: "/", user: { uid: 1.5 } } }), "found 1.5"],
    [withField({ process: { cwd: "/", user: { uid: "root" } } }), "/process/user/uid: expected integer, found string"],
    [
      withField({ process: { cwd: "/", oomScoreAdj: 2147483648 } }),
      "/process/oomScoreAdj: expected an integer from -2147483648 to 2147483647",
    ],
    [
      withField({ linux: { resources: { blockIO: { weight: 65536 } } } }),
      "/linux/resources/blockIO/weight: expected an integer from 0 to 65535",
    ],
    [
      withField({ linux: { resources: { cpu: { shares: -1 } } } }),
      "/linux/resources/cpu/shares: expected an unsigned 64-bit integer, found -1",
    ],
    [withField({ linux: { resources: { cpu: { quota: 1e19 } } } }), "/linux/resources/cpu/quota: expected a signed 64-bit integer"],
    [withField({ annotations: { "a/b~c": 1 } }), "/annotations/a~1b~0c: expected string, found number"],
    [withField({ mounts: [{ type: "proc" }] }), "/mounts/0/destination: required but missing"],
    [withField({ mounts: [null] }), "/mounts/0: expected object, found null"],
    [withField({ root: { path: true } }), "/root/path: expected string, found boolean"],
    [withField({ ociVersion: null }), "/ociVersion: expected string, found null"],
  ])("refuses %s", (text, message) => {
    const error = refusal(text);
    expect(error.code).toBe("config-schema");
    expect(error.message).toContain(message);
  });

  it("keeps 64-bit numbers exact and in range", () => {
    const text = (value: string) =>
      `{"ociVersion":"1.0.2","process":{"cwd":"/","rlimits":[{"type":"RLIMIT_CORE","soft":${value},"hard":${value}}]}}`;
    expect(parseSpec(text("18446744073709551615"), true).process?.rlimits?.[0]).toEqual({
      type: "RLIMIT_CORE",
      soft: 18446744073709551615n,
      hard: 18446744073709551615n,
    });
    expect(refusal(text("18446744073709551616"), true).message).toContain(
      "expected an unsigned 64-bit integer, found 18446744073709551616",
    );
    expect(refusal(text("-1"), true).message).toContain("found -1");
  });

  it("refuses a long integer where 32 bits are meant", () => {
    expect(refusal('{"ociVersion":"1.0.2","process":{"cwd":"/","user":{"uid":18446744073709551615}}}', true).message).toContain(
      "expected an integer from 0 to 4294967295, found 18446744073709551615",
    );
  });

  it("lets unknown fields and other platforms pass", () => {
    expect(parseSpec(withField({ windows: { x: 1 }, solaris: 3, vm: [], new: { field: 1 }, linux: { future: {} } }), false)).toBeDefined();
  });

  it("takes null for every optional field, at every level", () => {
    const nulls = (keys: string) => Object.fromEntries(keys.split(" ").map((key) => [key, null]));
    const linux =
      "namespaces uidMappings gidMappings timeOffsets devices netDevices cgroupsPath resources rootfsPropagation seccomp sysctl maskedPaths readonlyPaths mountLabel intelRdt memoryPolicy personality";
    const process =
      "terminal consoleSize env args user rlimits capabilities noNewPrivileges apparmorProfile selinuxLabel oomScoreAdj scheduler ioPriority execCPUAffinity";
    const resources = "devices memory cpu pids blockIO hugepageLimits network rdma unified";
    for (const change of [
      nulls("root process hostname domainname mounts hooks annotations linux windows solaris vm zos freebsd"),
      { process: { cwd: "/", ...nulls(process) } },
      {
        process: {
          cwd: "/",
          capabilities: nulls("bounding effective inheritable permitted ambient"),
          user: nulls("uid gid umask additionalGids"),
        },
      },
      { linux: nulls(linux) },
      { linux: { resources: nulls(resources) } },
      {
        linux: {
          resources: {
            memory: nulls("limit reservation swap kernel kernelTCP swappiness disableOOMKiller useHierarchy checkBeforeUpdate"),
          },
        },
      },
      { linux: { resources: { devices: [{ allow: false, ...nulls("type major minor access") }] } } },
      { linux: { devices: [{ path: "/dev/x", type: "p", ...nulls("major minor fileMode uid gid") }] } },
      {
        linux: {
          seccomp: { defaultAction: "SCMP_ACT_ALLOW", syscalls: [{ action: "SCMP_ACT_ERRNO", names: null, args: null, errnoRet: null }] },
        },
      },
      { mounts: [{ destination: "/x", ...nulls("type source options uidMappings gidMappings") }] },
      { hooks: nulls("prestart createRuntime createContainer startContainer poststart poststop") },
    ]) {
      expect(() => parseSpec(withField(change), false)).not.toThrow();
    }
  });

  it("tolerates a byte order mark", () => {
    expect(parseSpec(`\ufeff${withField({})}`, false).ociVersion).toBe("1.0.2");
  });
});
