import { expect, test } from "vitest";
import { parseUnit, slicePath } from "./unit.ts";

test.each([
  ["system.slice:runt:c1", { name: "runt-c1.scope", slice: "system.slice", path: "/system.slice/runt-c1.scope" }],
  [
    ":cri-containerd:0123ab",
    { name: "cri-containerd-0123ab.scope", slice: "system.slice", path: "/system.slice/cri-containerd-0123ab.scope" },
  ],
  ["machine.slice:libpod:x", { name: "libpod-x.scope", slice: "machine.slice", path: "/machine.slice/libpod-x.scope" }],
  [
    "kubepods-burstable-pod12_3.slice:crio:c",
    {
      name: "crio-c.scope",
      slice: "kubepods-burstable-pod12_3.slice",
      path: "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod12_3.slice/crio-c.scope",
    },
  ],
  ["-.slice:runt:c1", { name: "runt-c1.scope", slice: "-.slice", path: "/runt-c1.scope" }],
  ["-:runt:c1", { name: "runt-c1.scope", slice: "-.slice", path: "/runt-c1.scope" }],
  ["::c1", { name: "c1.scope", slice: "system.slice", path: "/system.slice/c1.scope" }],
  [":a:b\\x2d.c", { name: "a-b\\x2d.c.scope", slice: "system.slice", path: "/system.slice/a-b\\x2d.c.scope" }],
  ["::ecs-1.slice", { name: "ecs-1.slice", path: "/ecs.slice/ecs-1.slice" }],
  ["ecs.slice::ecs-1.slice", { name: "ecs-1.slice", path: "/ecs.slice/ecs-1.slice" }],
  ["-.slice:ignored:ecs.slice", { name: "ecs.slice", path: "/ecs.slice" }],
  ["", { name: "runt-id.scope", slice: "system.slice", path: "/system.slice/runt-id.scope" }],
])("%j", (cgroupsPath, expected) => {
  expect(parseUnit(cgroupsPath, "id", "system.slice")).toEqual(expected);
});

test("an id's plus sign, which unit names do not have, is escaped", () => {
  expect(parseUnit("", "a+b", "user.slice")).toEqual({
    name: "runt-a\\x2bb.scope",
    slice: "user.slice",
    path: "/user.slice/runt-a\\x2bb.scope",
  });
});

test.each([
  ["/a/b", 'expected cgroupsPath to be of format "slice:prefix:name" for systemd cgroups, got "/a/b" instead'],
  ["a:b", "expected cgroupsPath to be of format"],
  ["a:b:c:d", "expected cgroupsPath to be of format"],
  ["system.slice:runt:", "is not the name of a systemd unit"],
  // Only services and the like have instances.
  [":runt:a@b", "is not the name of a systemd unit"],
  [":runt:a b", "is not the name of a systemd unit"],
  [":runt:a/b", "is not the name of a systemd unit"],
  [":../x:a", "is not the name of a systemd unit"],
  [`:runt:${"x".repeat(245)}`, "is not the name of a systemd unit"],
  ["system:runt:c1", "invalid slice name: system"],
  [".slice:runt:c1", "invalid slice name: .slice"],
  ["a--b.slice:runt:c1", "invalid slice name: a--b.slice"],
  ["-a.slice:runt:c1", "invalid slice name: -a.slice"],
  ["a-.slice:runt:c1", "invalid slice name: a-.slice"],
  ["a/b.slice:runt:c1", "invalid slice name: a/b.slice"],
  ["::-.slice", "the root slice cannot be a container's unit"],
  ["system.slice::ecs-1.slice", "slice ecs-1.slice is not directly below system.slice"],
])("%.60j is refused", (cgroupsPath, words) => {
  expect(() => parseUnit(cgroupsPath, "id", "system.slice")).toThrow(words);
});

test("the path of a slice", () => {
  expect(slicePath("-.slice")).toBe("");
  expect(slicePath("a.slice")).toBe("/a.slice");
  expect(slicePath("a-b-c.slice")).toBe("/a.slice/a-b.slice/a-b-c.slice");
});
