import { expect, test } from "vitest";
import { findAll, roleOf } from "./identity.ts";

test.each([
  ["containerd", "io.kubernetes.cri.container-type", "sandbox", "sandbox"],
  ["containerd", "io.kubernetes.cri.container-type", "container", "container"],
  ["cri-o", "io.kubernetes.cri-o.ContainerType", "sandbox", "sandbox"],
  ["cri-o", "io.kubernetes.cri-o.ContainerType", "container", "container"],
  ["dockershim", "io.kubernetes.docker.type", "podsandbox", "sandbox"],
  ["dockershim", "io.kubernetes.docker.type", "container", "container"],
])("K2, K4: %s says %s = %s", (manager, key, word, role) => {
  const [found] = findAll({ other: "x", [key]: word }, "typeKey");
  expect([found?.manager.name, found?.key, roleOf(found?.value ?? "")]).toEqual([manager, key, role]);
});

test.each([
  ["containerd", "io.kubernetes.cri.sandbox-id"],
  ["cri-o", "io.kubernetes.cri-o.SandboxID"],
  ["dockershim", "io.kubernetes.sandbox.id"],
])("K3: %s names the sandbox in %s", (manager, key) => {
  expect(findAll({ [key]: "s1" }, "idKey").map((found) => [found.manager.name, found.value])).toEqual([[manager, "s1"]]);
});

test("K2: the first of them counts, in the order of the table and not of the file", () => {
  const annotations = { "io.kubernetes.docker.type": "container", "io.kubernetes.cri.container-type": "sandbox" };
  expect(findAll(annotations, "typeKey").map(({ value }) => value)).toEqual(["sandbox", "container"]);
});

test("what is inherited by every object is no annotation, and no word", () => {
  expect(findAll({}, "typeKey")).toEqual([]);
  expect(findAll(null, "idKey")).toEqual([]);
  expect(roleOf("constructor")).toBeUndefined();
  expect(roleOf("Sandbox")).toBeUndefined();
});
