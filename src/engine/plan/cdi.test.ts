import { expect, test } from "vitest";
import { cdiEdits, parseCdi } from "./cdi.ts";

const kind = (name: string, devices: Readonly<Record<string, unknown>>, containerEdits: unknown = {}) =>
  parseCdi({
    cdiVersion: "0.6.0",
    kind: name,
    devices: Object.entries(devices).map(([device, edits]) => ({ name: device, containerEdits: edits })),
    containerEdits,
  });

test("edits of a file count once, before those of its devices, whose variables take precedence", () => {
  const gpu = kind(
    "acme.com/gpu",
    {
      "0": { deviceNodes: [{ path: "/dev/gpu0" }], env: ["WHO=zero"] },
      "1": { deviceNodes: [{ path: "/dev/gpu1" }], additionalGids: [7] },
    },
    { env: ["WHO=all", "LEVEL=a=b"], hooks: [{ hookName: "createRuntime", path: "/bin/x" }], additionalGids: [7] },
  );
  expect(cdiEdits(["acme.com/gpu=1", "acme.com/gpu=0", "acme.com/gpu=1"], [[gpu]])).toEqual({
    env: { WHO: "zero", LEVEL: "a=b" },
    nodes: [{ path: "/dev/gpu1" }, { path: "/dev/gpu0" }],
    mounts: [],
    hooks: { createRuntime: [{ path: "/bin/x" }] },
    gids: [7],
    ignored: [],
  });
});

test("a later directory takes precedence; twice in one directory is an error, and nowhere, too", () => {
  const one = kind("acme.com/gpu", { "0": { env: ["FROM=one"] } });
  const two = kind("acme.com/gpu", { "0": { env: ["FROM=two"] } });
  expect(cdiEdits(["acme.com/gpu=0"], [[one], [two]]).env).toEqual({ FROM: "two" });
  expect(() => cdiEdits(["acme.com/gpu=0"], [[one, two]])).toThrow(
    "two CDI specifications of one directory have the device acme.com/gpu=0",
  );
  expect(() => cdiEdits(["acme.com/gpu=1"], [[one]])).toThrow("no CDI specification has the device acme.com/gpu=1");
});

test("a mount is a bind mount unless it has another type", () => {
  const mounts = [
    { hostPath: "/a", containerPath: "/b", options: ["ro"] },
    { hostPath: "/a", containerPath: "/c", options: ["bind"], type: "" },
    { hostPath: "tmpfs", containerPath: "/d", type: "tmpfs" },
  ];
  expect(() => kind("acme.com/gpu", { "0": { mounts } })).toThrow("/devices/0/containerEdits/mounts/2/hostPath: is no absolute path");
  const two = kind("acme.com/gpu", { "0": { mounts: mounts.slice(0, 2) } });
  expect(cdiEdits(["acme.com/gpu=0"], [[two]]).mounts).toEqual([
    { destination: "/b", source: "/a", type: "bind", options: ["rbind", "ro"] },
    { destination: "/c", source: "/a", type: "bind", options: ["bind"] },
  ]);
});

test("what this version does not do is refused with its place", () => {
  expect(() => kind("acme.com/gpu", { "0": { netDevices: [] } })).toThrow(/^\/devices\/0\/containerEdits: .*netDevices/);
  expect(() => kind("acme", {})).toThrow("/kind: is no vendor.com/class");
  expect(() => kind("acme.com/gpu", { "a b": {} })).toThrow("/devices/0/name: is no name of a device");
  expect(() => parseCdi({ cdiVersion: "2.0.0", kind: "acme.com/gpu", devices: [] })).toThrow("/cdiVersion: is not supported: 0.3.0 to");
});

test("classes of cache are told of", () => {
  const gpu = kind("acme.com/gpu", { "0": { intelRdt: { closID: "a" } }, "1": {} });
  expect(cdiEdits(["acme.com/gpu=1", "acme.com/gpu=0"], [[gpu]]).ignored).toEqual([
    "intelRdt of acme.com/gpu=1, acme.com/gpu=0 has no effect",
  ]);
  expect(cdiEdits(["acme.com/gpu=1"], [[gpu]]).ignored).toEqual([]);
});
