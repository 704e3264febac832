import { describe, expect, it } from "vitest";
import { deriveSysctl, sysctlPath } from "./sysctl.ts";
import type { NamespaceType } from "./types.ts";

const namespaces = (...types: NamespaceType[]) => types.map((type) => ({ from: "", type }));
const ALL = namespaces("ipc", "network", "uts", "user", "mount", "pid");
const one = (key: string, spaces = ALL, value = "1") => deriveSysctl({ [key]: value }, spaces)[0]?.path;

describe("sysctlPath", () => {
  it.each([
    ["net.ipv4.ip_forward", "net/ipv4/ip_forward"],
    ["net/ipv4/ip_forward", "net/ipv4/ip_forward"],
    ["net.ipv4.conf.eth0/100.forwarding", "net/ipv4/conf/eth0.100/forwarding"],
    ["net/ipv4/conf/eth0.100/forwarding", "net/ipv4/conf/eth0.100/forwarding"],
  ])("%s is %s", (key, path) => expect(sysctlPath(key)).toBe(path));
});

describe("deriveSysctl", () => {
  it.each([
    ["kernel.msgmax", "ipc"],
    ["kernel.shm_rmid_forced", "ipc"],
    ["fs.mqueue.msg_max", "ipc"],
    ["net.core.somaxconn", "network"],
    ["kernel.domainname", "uts"],
    ["user.max_user_namespaces", "user"],
  ] as const)("%s needs an own %s namespace", (key, type) => {
    expect(one(key, namespaces(type))).toBe(key.replaceAll(".", "/"));
    expect(() =>
      one(
        key,
        ALL.filter((namespace) => namespace.type !== type),
      ),
    ).toThrow("is not in a separate kernel namespace");
  });

  it.each(["vm.swappiness", "kernel.core_pattern", "fs.file-max", "kernel.shm", "net"])("%s is nobody's own", (key) => {
    expect(() => one(key)).toThrow(
      expect.objectContaining({ code: "config-invalid", message: `sysctl "${key}" is not in a separate kernel namespace` }),
    );
  });

  it("names the namespace that holds the value", () => {
    expect(deriveSysctl({ "net.core.somaxconn": "1" }, ALL)).toEqual([
      { key: "net.core.somaxconn", path: "net/core/somaxconn", value: "1", namespace: "network" },
    ]);
  });

  it("accepts a domain name that is that of its own field, and no other one", () => {
    const derived = (value: string, field?: string) => deriveSysctl({ "kernel.domainname": value }, ALL, field);
    for (const field of [undefined, "", "here"]) expect(derived("here", field)).toHaveLength(1);
    expect(() => derived("here", "there")).toThrow('sysctl "kernel.domainname" is not allowed as it conflicts with the field "domainname"');
  });

  it("leaves the host name to its own field", () => {
    expect(() => one("kernel.hostname")).toThrow("conflicts");
  });

  it.each(["net/../kernel/core_pattern", "net.//.kernel", "net..x", "", "/net/x", "net/./x", "net/x/"])("refuses the key %j", (key) => {
    expect(() => one(key)).toThrow("is not a valid key");
  });

  it("points at the key", () => {
    expect(() => one("vm/swappiness")).toThrow(
      expect.objectContaining({ details: { pointer: "/linux/sysctl/vm~1swappiness", finding: "sysctl-host" } }),
    );
  });
});
