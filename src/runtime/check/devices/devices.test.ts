import { expect, it } from "vitest";
import type { Spec, SpecDevice, SpecMount } from "../../spec/index.ts";
import { findProblems } from "../checks.ts";

const NULL: SpecDevice = { path: "/dev/x", type: "c", major: 1, minor: 3 };

const find = (devices: SpecDevice[], { mounts = [] as SpecMount[], linux = {}, rootless = false } = {}) => {
  const spec: Spec = { ociVersion: "1.0.2", root: { path: "rootfs" }, mounts, linux: { ...linux, devices } };
  return findProblems(spec, { rootless })
    .filter(({ pointer }) => pointer.startsWith("/linux/devices"))
    .map(({ code, severity, pointer }) => `${severity} ${code} ${pointer}`);
};

it("has nothing to say about ordinary devices", () => {
  expect(find([NULL, { ...NULL, path: "/dev/y", minor: 5, uid: 3 }, { path: "/dev/p", type: "p" }])).toEqual([]);
});

it("warns about the same device and about the same path", () => {
  expect(find([NULL, { ...NULL, path: "/dev/y", type: "u" }])).toEqual(["warning device-duplicate /linux/devices/1"]);
  expect(find([NULL, { ...NULL, path: "/dev/./x", minor: 5 }])).toEqual(["warning device-path-duplicate /linux/devices/1/path"]);
});

it.each<[string, SpecMount, boolean]>([
  ["a bind", { destination: "/dev", source: "/dev", options: ["rbind"] }, true],
  ["a bind by type, written otherwise", { destination: "dev/.", source: "/dev", type: "bind" }, true],
  ["a tmpfs", { destination: "/dev", type: "tmpfs" }, false],
  ["a bind elsewhere", { destination: "/dev/shm", source: "/x", options: ["bind"] }, false],
  ["a remount", { destination: "/dev", options: ["remount", "bind", "ro"] }, false],
])("knows that %s on /dev takes the place of nodes: %o", (_, mount, skipped) => {
  expect(find([NULL], { mounts: [mount] })).toEqual(skipped ? ["warning devices-skipped /linux/devices"] : []);
});

it("warns about owner and mode where a node is the host's", () => {
  const owned = { ...NULL, uid: 0 };
  const expected = ["warning device-owner-ignored /linux/devices/0"];
  expect(find([owned], { rootless: true })).toEqual(expected);
  expect(find([owned], { linux: { namespaces: [{ type: "user", path: "/x" }] } })).toEqual(expected);
  const joined = { namespaces: [{ type: "user", path: "/x" }] };
  const maps = (size: number) => ({
    uidMappings: [{ containerID: 0, hostID: 0, size }],
    gidMappings: [{ containerID: 0, hostID: 0, size }],
  });
  expect(find([owned], { linux: { ...joined, ...maps(1) } })).toEqual(expected);
  expect(find([owned], { linux: { ...joined, ...maps(2) } })).toEqual([]);
  expect(find([NULL], { rootless: true })).toEqual([]);
  expect(find([owned], { linux: { namespaces: [{ type: "user" }] } })).toEqual([]);
  expect(find([{ path: "/dev/p", type: "p", uid: 1 }], { rootless: true })).toEqual([]);
});
