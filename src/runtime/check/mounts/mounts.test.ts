import { expect, it } from "vitest";
import type { Spec } from "../../spec/index.ts";
import { findProblems } from "../checks.ts";

const find = (change: Partial<Spec>, rootless = false) =>
  findProblems({ ociVersion: "1.0.2", root: { path: "rootfs" }, ...change }, { rootless })
    .filter(({ pointer }) => pointer.startsWith("/mounts") || pointer.startsWith("/linux"))
    .map(({ code, severity, pointer }) => `${severity} ${code} ${pointer}`);
const map = (containerID: number, hostID: number, size = 10) => ({ containerID, hostID, size });

it("holds id mappings of mounts to the rules of user namespaces", () => {
  const mapped = (uidMappings: object[], gidMappings = [map(0, 5)]) =>
    find({ mounts: [{ destination: "/x", source: "/y", options: ["bind", "idmap"], uidMappings, gidMappings } as never] });
  expect(mapped([map(0, 1), map(10, 20)])).toEqual([]);
  expect(mapped([map(0, 1), map(5, 20)])).toEqual(["error mapping-overlap /mounts/0/uidMappings/1"]);
  expect(mapped([map(0, 1, 0)])).toEqual(["error mapping-empty /mounts/0/uidMappings/0/size"]);
  expect(mapped([map(0, 1)], [map(0, 2 ** 32 - 1)])).toEqual(["error mapping-range /mounts/0/gidMappings/0"]);
  expect(mapped([])).toEqual(["error mount-mappings-half /mounts/0"]);
});
