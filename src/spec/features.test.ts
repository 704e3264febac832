import { expect, it } from "vitest";
import { supportedMountOptions } from "../config/mount-options.ts";
import { featuresDocument } from "./features.ts";

it("lists exactly the option table", () => {
  expect(featuresDocument({ version: "1", commit: "" }).mountOptions).toEqual(supportedMountOptions());
});

it("claims all namespaces and capabilities, and nothing that does not work yet", () => {
  const { linux, hooks, annotations } = featuresDocument({ version: "1.2.3", commit: "abc" });
  expect(linux.namespaces).toHaveLength(8);
  expect(linux.capabilities).toHaveLength(41);
  expect(new Set(linux.capabilities).size).toBe(41);
  expect(hooks).toEqual([]);
  for (const name of ["seccomp", "apparmor", "selinux", "intelRdt", "netDevices"] as const) expect(linux[name].enabled).toBe(false);
  expect(linux.mountExtensions.idmap.enabled).toBe(false);
  expect(linux.cgroup.systemd).toBe(false);
  expect(annotations).toEqual({ "org.opencontainers.runt.version": "1.2.3", "org.opencontainers.runt.commit": "abc" });
});
