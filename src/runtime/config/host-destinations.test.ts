import { expect, it } from "vitest";
import type { Spec } from "../spec/index.ts";
import { destinationsInRoot } from "./host-destinations.ts";

const ROOTFS = "/b/rootfs";
const spec = (destinations: readonly string[], path = "rootfs"): Spec => ({
  ociVersion: "1.0.2",
  root: { path },
  mounts: destinations.map((destination) => ({ destination })),
});
const moved = (destinations: readonly string[], path?: string) => {
  const found = destinationsInRoot(spec(destinations, path), "/b");
  return found && { to: found.spec.mounts?.map(({ destination }) => destination), said: found.warnings.map(({ pointer }) => pointer) };
};

it("takes a path of the host below the root for the container's, and says so", () => {
  expect(moved(["/proc", `${ROOTFS}/mnt`, `${ROOTFS}//mnt/./x/`, `${ROOTFS}`])).toEqual({
    to: ["/proc", "/mnt", "/mnt/x", "/"],
    said: ["/mounts/1/destination", "/mounts/2/destination", "/mounts/3/destination"],
  });
  expect(moved(["/c/mnt"], "/c/")?.to).toEqual(["/mnt"]);
  expect(destinationsInRoot(spec([`${ROOTFS}/mnt`]), "/b")?.warnings[0]).toEqual({
    code: "mount-destination-host",
    pointer: "/mounts/0/destination",
    message: 'mount destination "/b/rootfs/mnt" is a path of the host below the root and is taken for "/mnt"',
  });
});

it("leaves every other path as it is", () => {
  for (const path of ["/proc", `${ROOTFS}2/x`, `${ROOTFS}/../x`, "b/rootfs/x", `/x${ROOTFS}/y`, ""]) expect(moved([path])).toBeUndefined();
  expect(moved(["/x"], "/")).toBeUndefined();
  expect(destinationsInRoot({ ociVersion: "1.0.2", mounts: [{ destination: "/x" }] }, "/b")).toBeUndefined();
  expect(destinationsInRoot({ ociVersion: "1.0.2", root: { path: "rootfs" } }, "/b")).toBeUndefined();
});
