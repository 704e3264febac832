import { expect, test } from "vitest";
import { imageReference, pullPolicyOf } from "./image-name.ts";

const DIGEST = `sha256:${"a".repeat(64)}`;

/** Docker, "docker image tag": a first part with a dot or a colon, or "localhost", is a registry; without a tag it is "latest". */
test.each([
  ["registry.example/shop/web:v1", "docker://registry.example/shop/web:v1"],
  ["registry.example/web", "docker://registry.example/web:latest"],
  ["localhost/web:1", "docker://localhost/web:1"],
  ["localhost:5000/a/b", "docker://localhost:5000/a/b:latest"],
  [`registry.example/web:v1@${DIGEST}`, `docker://registry.example/web@${DIGEST}`],
  ["oci:/srv/layout:v1", "oci:/srv/layout:v1"],
  ["docker://registry.example/web", "docker://registry.example/web"],
  ["nginx", "oci:/srv/images/nginx:latest"],
  ["nginx:1.25", "oci:/srv/images/nginx:1.25"],
  ["library/nginx:1.25", "oci:/srv/images/library/nginx:1.25"],
])("P4 the image %s is %s", (name, reference) => {
  expect(imageReference(name, "oci:/srv/images/")).toBe(reference);
});

test("P4 a name without a registry means nothing unless somebody has said where it is looked for", () => {
  expect(imageReference("nginx", undefined)).toBeUndefined();
  expect(imageReference("registry.example/nginx", undefined)).toBe("docker://registry.example/nginx:latest");
});

/** Kubernetes, "Images": "if you don't specify the tag ... imagePullPolicy is automatically set to Always", a digest: IfNotPresent. */
test("P4 the latest is asked for each time, what has another tag or a digest when it is not there", () => {
  expect(pullPolicyOf(undefined, "a.b/web")).toBe("always");
  expect(pullPolicyOf(undefined, "localhost:5000/web")).toBe("always");
  expect(pullPolicyOf(undefined, "web:latest")).toBe("always");
  expect(pullPolicyOf(undefined, "web:v1")).toBe("prefer-cached");
  expect(pullPolicyOf(undefined, `web@${DIGEST}`)).toBe("prefer-cached");
  expect(pullPolicyOf("Always", "web:v1")).toBe("always");
  expect(pullPolicyOf("IfNotPresent", "web")).toBe("prefer-cached");
});
