import { expect, test } from "vitest";
import { otherDocument } from "./versions.ts";

test.each([
  ["podman inspect", [{ Id: "a", Created: "x", HostConfig: {}, Config: {} }], /podman inspect/],
  ["a container of CRI", { metadata: {}, image: {}, command: [], log_path: "x", linux: {} }, /Container Runtime Interface/],
  ["a container of CRI without a log", { metadata: {}, image: {}, command: [] }, /Container Runtime Interface/],
  ["a pod of CRI", { metadata: {}, log_directory: "/tmp", linux: {} }, /Container Runtime Interface/],
  ["a pod of Kubernetes", { apiVersion: "v1", kind: "Pod", spec: {} }, /Kubernetes/],
  ["a manifest", { schemaVersion: 2, mediaType: "x", layers: [] }, /manifest/],
  ["an image's configuration", { architecture: "amd64", os: "linux", rootfs: { type: "layers" } }, /configuration of an image/],
])("knows %s", (_, value, what) => {
  expect(otherDocument(value)?.what).toMatch(what);
});

test.each([[{}], [[]], [null], ["x"], [{ ociVersion: "1.0.0", apiVersion: "v1", kind: "Pod" }], [{ root: { path: "rootfs" } }]])(
  "takes %j for what it should be",
  (value) => {
    expect(otherDocument(value)).toBeUndefined();
  },
);
