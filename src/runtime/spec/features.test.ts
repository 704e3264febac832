import { expect, it } from "vitest";
import { supportedMountOptions } from "../config/index.ts";
import { featuresDocument, UNSAFE_ANNOTATIONS } from "./features.ts";

it("lists exactly the option table", () => {
  expect(featuresDocument({ version: "1", commit: "" }, { criu: false }).mountOptions).toEqual(supportedMountOptions());
});

it("claims all namespaces and capabilities, and nothing that does not work yet", () => {
  const features = featuresDocument({ version: "1.2.3", commit: "abc" }, { criu: true });
  const { linux, hooks, annotations } = features;
  expect(linux.namespaces).toHaveLength(8);
  expect(linux.capabilities).toHaveLength(41);
  expect(new Set(linux.capabilities).size).toBe(41);
  expect(hooks).toEqual(["prestart", "createRuntime", "createContainer", "startContainer", "poststart", "poststop"]);
  expect([linux.apparmor.enabled, linux.selinux.enabled]).toEqual([true, true]);
  expect(linux.intelRdt).toEqual({ enabled: true, schemata: true, monitoring: true });
  expect(linux.netDevices.enabled).toBe(true);
  expect(linux.memoryPolicy.modes).toHaveLength(7);
  expect(linux.memoryPolicy.flags).toEqual(["MPOL_F_NUMA_BALANCING", "MPOL_F_RELATIVE_NODES", "MPOL_F_STATIC_NODES"]);
  expect(linux.seccomp.enabled).toBe(true);
  expect(linux.seccomp.actions).toHaveLength(9);
  expect(linux.seccomp.operators).toHaveLength(7);
  expect(linux.seccomp.archs).toHaveLength(23);
  expect(linux.seccomp.supportedFlags).toEqual(linux.seccomp.knownFlags);
  expect(linux.mountExtensions.idmap.enabled).toBe(true);
  expect(linux.cgroup).toEqual({ v1: true, v2: true, systemd: true, systemdUser: true, rdma: true });
  expect(features.potentiallyUnsafeConfigAnnotations).toEqual(UNSAFE_ANNOTATIONS);
  expect(annotations).toEqual({
    "org.opencontainers.runt.version": "1.2.3",
    "org.opencontainers.runt.commit": "abc",
    "org.opencontainers.runc.checkpoint.enabled": "true",
  });
});
