import { expect, it } from "vitest";
import type { Spec } from "../../spec/index.ts";
import { findProblems } from "../checks.ts";

const codes = (linux: Spec["linux"]) =>
  findProblems({ ociVersion: "1.0.2", root: { path: "rootfs" }, linux })
    .filter(({ pointer }) => pointer.startsWith("/linux"))
    .map(({ code, pointer }) => `${code} ${pointer}`);

it("warns about a root propagation without a new mount namespace", () => {
  const warning = ["root-propagation-ignored /linux/rootfsPropagation"];
  expect(codes({ rootfsPropagation: "slave", namespaces: [{ type: "mount" }] })).toEqual([]);
  expect(codes({ rootfsPropagation: "slave", namespaces: [{ type: "mount", path: "/x" }] })).toEqual(warning);
  expect(codes({ rootfsPropagation: "slave" })).toEqual(warning);
  expect(codes({ rootfsPropagation: "" })).toEqual([]);
});
