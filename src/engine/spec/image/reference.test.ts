import { expect, test } from "vitest";
import { parseReference, pinned, renderReference } from "./reference.ts";

const DIGEST = `sha256:${"a".repeat(64)}`;

test.each([
  ["oci:/srv/layout", { transport: "oci", place: "/srv/layout" }],
  ["oci:/srv/layout:v1", { transport: "oci", place: "/srv/layout", tag: "v1" }],
  ["oci-archive:/srv/a.tar", { transport: "oci-archive", place: "/srv/a.tar" }],
  ["docker-archive:/srv/a.tar:name/b", { transport: "docker-archive", place: "/srv/a.tar", tag: "name/b" }],
  ["docker-archive:/srv/a.tar:name/b:v1", { transport: "docker-archive", place: "/srv/a.tar", tag: "name/b:v1" }],
  ["docker-archive:/srv/a.tar:localhost:5000/b:v1", { transport: "docker-archive", place: "/srv/a.tar", tag: "localhost:5000/b:v1" }],
  ["docker://localhost:5000/a/b:v1.2", { transport: "docker", place: "localhost:5000/a/b", tag: "v1.2" }],
  ["docker://[::1]:5000/a", { transport: "docker", place: "[::1]:5000/a" }],
  [`docker://reg.example/a@${DIGEST}`, { transport: "docker", place: "reg.example/a", digest: DIGEST }],
])("%s", (text, reference) => {
  expect(parseReference(text)).toEqual(reference);
  expect(renderReference(parseReference(text)!)).toBe(text);
});

test.each([
  "",
  "busybox",
  "oci:relative",
  "oci:/a/../b",
  "oci:/a:b:c",
  "docker-archive:/a:",
  "docker-archive:/a:b:c:d:e",
  "dir:/a",
  "docker://busybox",
  "docker://host/Upper",
  "docker://host/a:b@sha256:12",
  `docker://host/a:b@${DIGEST}`,
  "docker://user:password@host/a",
  "docker://--flag/a",
  "oci:/a\nb",
])("%j is no reference", (text) => {
  expect(parseReference(text)).toBeUndefined();
});

test("a digest takes the place of a tag, where there are digests", () => {
  expect(renderReference(pinned(parseReference("docker://h:1/a:v1")!, DIGEST))).toBe(`docker://h:1/a@${DIGEST}`);
  expect(renderReference(pinned(parseReference("oci:/a:v1")!, DIGEST))).toBe("oci:/a:v1");
});
