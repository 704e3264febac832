/** Checks against the host's rules: what the kernel takes there has no error, and what it refuses has one. */
import { describe, expect, test } from "vitest";
import type { Edits, Example, ExampleFile } from "../../src/runtime/check/catalogue/index.ts";
import { examineHost } from "../../src/runtime/check/host/index.ts";
import type { Spec } from "../../src/runtime/spec/index.ts";
import { exampleConfig, exampleView } from "../support/example-host.ts";

type Host = Pick<Example, "facts" | "files">;

/** "SEVERITY CODE" of each finding. */
function findingsOf(edits: Edits, host: Host = {}): readonly string[] {
  return examineHost(exampleConfig({}, edits) as Spec, exampleView(host), false).map(({ code, severity }) => `${severity} ${code}`);
}

const file = (text: string): ExampleFile => ({ kind: "file", text });

describe("CPUs and memory nodes of a cpuset", () => {
  const hierarchy = (version: number) => ({
    version,
    hierarchies: [{ mountpoint: "/sys/fs/cgroup", controllers: ["cpuset"], writable: true }],
  });
  const host = (version: number): Host => ({
    facts: { cgroup: hierarchy(version), cpus: { online: "0-3", possible: "0-7", memoryNodes: "0", possibleNodes: "0-1" } },
    files: { "/sys/fs/cgroup/cpuset.cpus.effective": file("0-2\n"), "/sys/fs/cgroup/cpuset.cpus": file("0-3\n") },
  });
  const cpu = (value: object): Edits => ({ "/linux/resources": { cpu: value } });

  test.each([
    [2, { cpus: "0-2" }, []],
    [2, { cpus: "0-7" }, ["warning cpuset-not-granted"]],
    [2, { cpus: "3" }, ["warning cpuset-not-granted"]],
    [2, { cpus: "0-8" }, ["error cpus-offline"]],
    [2, { mems: "1" }, ["warning cpuset-not-granted"]],
    [2, { mems: "2" }, ["error nodes-offline"]],
    [1, { cpus: "3" }, []],
    [1, { cpus: "0-7" }, ["error cpus-offline"]],
    [1, { mems: "1" }, ["error nodes-offline"]],
  ])("cgroup v%i: %j", (version, value, wanted) => {
    expect(findingsOf(cpu(value), host(version))).toEqual(wanted);
  });

  test("of a host that was recorded without what is possible, there is a warning", () => {
    const recorded = { cpus: { online: "0-3", memoryNodes: "0", possible: undefined, possibleNodes: undefined } };
    expect(findingsOf(cpu({ cpus: "0-7", mems: "0-1" }), { facts: recorded as never })).toEqual([
      "warning cpuset-not-granted",
      "warning cpuset-not-granted",
    ]);
  });
});

describe("CAP_SYS_RESOURCE counts on the host alone", () => {
  const rlimits: Edits = { "/process/rlimits": [{ type: "RLIMIT_NOFILE", soft: 10, hard: 5000 }] };
  const host = (inUserNamespace: boolean, score: string, effective = ["CAP_SYS_RESOURCE"]): Host => ({
    facts: { caller: { effective, inUserNamespace, rlimits: { RLIMIT_NOFILE: ["1024", "4096"] } } },
    files: { "/proc/self/oom_score_adj": file(`${score}\n`) },
  });
  const score = (oomScoreAdj: number): Edits => ({ "/process/oomScoreAdj": oomScoreAdj });

  test("for a higher limit", () => {
    expect(findingsOf(rlimits, host(false, "0"))).toEqual([]);
    expect(findingsOf(rlimits, host(true, "0"))).toEqual(["error rlimit-raise"]);
  });

  test.each([
    [-500, "0", ["error oom-score-lower"]],
    [-500, "-999", []],
    [0, "100", ["warning oom-score-minimum"]],
    [50, "100", ["warning oom-score-minimum"]],
    [100, "100", []],
    [0, "0", []],
  ])("for a score of %i below the own one of %s", (wanted, own, found) => {
    expect(findingsOf(score(wanted), host(false, own))).toEqual([]);
    expect(findingsOf(score(wanted), host(true, own)), "root of a user namespace").toEqual(found);
    expect(findingsOf(score(wanted), host(false, own, [])), "without the capability").toEqual(found);
  });
});

test("real-time I/O takes a capability on the host, too", () => {
  const edits: Edits = { "/process/ioPriority": { class: "IOPRIO_CLASS_RT", priority: 4 } };
  const caller = (effective: string[], inUserNamespace: boolean): Host => ({ facts: { caller: { effective, inUserNamespace } } });
  expect(findingsOf(edits, caller(["CAP_SYS_ADMIN"], false))).toEqual([]);
  expect(findingsOf(edits, caller(["CAP_SYS_NICE"], false))).toEqual([]);
  expect(findingsOf(edits, caller(["CAP_SYS_ADMIN", "CAP_SYS_NICE"], true))).toEqual(["error io-priority-rights"]);
  expect(findingsOf(edits, caller([], false))).toEqual(["error io-priority-rights"]);
});

describe("sysctls", () => {
  const sysctl = (key: string, value: string): Edits => ({ "/linux/sysctl": { [key]: value } });

  test.each([
    ["net.ipv4.ip_local_reserved_ports", "6443", "8080,9000-9100"],
    ["net.core.rps_default_mask", "0", "ff,ffffffff"],
  ])("%s is %s here, which is no number", (key, here, value) => {
    const files = { [`/proc/sys/${key.replaceAll(".", "/")}`]: file(`${here}\n`) };
    expect(findingsOf(sysctl(key, value), { files })).toEqual([]);
  });

  test.each(["prestart", "createRuntime", "createContainer"])("a %s hook may bring the interface", (kind) => {
    const hooks = { [kind]: [{ path: "/usr/bin/hook", timeout: 5 }] };
    const edits = sysctl("net.ipv4.conf.eth1.forwarding", "1");
    expect(findingsOf(edits)).toEqual(["error sysctl-interface"]);
    expect(findingsOf({ ...edits, "/hooks": hooks })).toEqual([]);
  });

  test("a startContainer hook runs too late for that", () => {
    const edits = { ...sysctl("net.ipv4.conf.eth1.forwarding", "1"), "/hooks": { startContainer: [{ path: "/bin/sh", timeout: 5 }] } };
    expect(findingsOf(edits)).toEqual(["error sysctl-interface"]);
  });
});

describe("a bind mount on /proc", () => {
  const mountinfo = `20 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw
21 20 0:21 / /proc rw,relatime - proc proc rw
22 20 0:22 / /srv/data rw,relatime - proc proc rw
`;
  const files = { "/proc/self/mountinfo": file(mountinfo), "/srv/other": { kind: "directory" as const, mode: 0o755 } };
  const bound = (source: string, type = "bind"): Edits => ({ "/mounts/0": { destination: "/proc", type, source, options: ["rbind"] } });

  test("is one of a procfs", () => {
    expect(findingsOf(bound("/srv/data"), { files })).toEqual([]);
    expect(findingsOf(bound("/srv/other"), { files })).toEqual(["error mount-on-proc"]);
  });

  test("whatever its type is called", () => {
    expect(findingsOf(bound("/srv/other", "proc"), { files })).toEqual(["error mount-on-proc"]);
  });
});

describe("a remount in a user namespace", () => {
  const map = [{ containerID: 0, hostID: 100000, size: 65536 }];
  const user = { "/linux/namespaces/-": { type: "user" }, "/linux/uidMappings": map, "/linux/gidMappings": map };
  const joined = { "/linux/namespaces/-": { type: "user", path: "/proc/77/ns/user" } };
  const mountinfo =
    "20 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n21 20 0:21 / /proc rw - proc proc rw\n22 20 0:22 / /sys rw - sysfs sysfs rw\n";
  const files: Host["files"] = {
    "/proc/self/mountinfo": file(mountinfo.replaceAll("rw -", "rw,relatime -")),
    "/proc/77/ns/user": { kind: "namespace", text: "user" },
  };
  const edits = (mount: object, ...options: string[]): Edits => ({
    "/mounts/-": { destination: "/data", source: "/srv/data", ...mount },
    "/mounts/5": { destination: "/data", type: "none", source: "none", options: ["remount", ...options] },
  });
  const BIND = { type: "bind", options: ["rbind"] };
  const remounts = (all: Edits) => findingsOf(all, { files }).filter((text) => /mount/.test(text));

  test.each([
    ["of the filesystem", ["ro"], ["error remount-host-filesystem"]],
    ["of the filesystem's options", ["size=1m"], ["error remount-host-filesystem"]],
    ["of the mount", ["bind", "ro"], []],
    ["of flags that only a mount has", ["nosuid"], []],
  ])("%s, where the host's is bound", (_, options, wanted) => {
    expect(remounts({ ...user, ...edits(BIND, ...options) })).toEqual(wanted);
    expect(remounts(edits(BIND, ...options)), "without a user namespace").toEqual([]);
    expect(remounts({ ...joined, ...edits(BIND, ...options) }), "of which nothing is known").toEqual([]);
  });

  test("of the container's own filesystem", () => {
    expect(remounts({ ...user, ...edits({ type: "tmpfs", options: [] }, "ro") })).toEqual([]);
  });
});
