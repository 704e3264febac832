import { expect, test } from "vitest";
import { aliasesIn, referenceOf } from "./short-names.ts";

const HOST = `unqualified-search-registries = ["registry.example"]
"alpine" = "not.in/the/table"
[aliases]
  # fedora
  "fedora" = "registry.fedoraproject.org/fedora"   # the usual one
  'team/tool' = 'registry.example:5000/tool'
  busybox = "quay.io/busybox"
  "gone" = ""
[[registry]]
prefix = "x.example"
"nginx" = "also.not/in"
`;

test.each([
  ["alpine", "docker://docker.io/library/alpine:latest"],
  ["nginx:1.27", "docker://docker.io/library/nginx:1.27"],
  ["shop/web", "docker://docker.io/shop/web:latest"],
  ["fedora", "docker://registry.fedoraproject.org/fedora:latest"],
  ["fedora:42", "docker://registry.fedoraproject.org/fedora:42"],
  [`busybox@sha256:${"0".repeat(64)}`, `docker://quay.io/busybox@sha256:${"0".repeat(64)}`],
  ["team/tool:v1", "docker://registry.example:5000/tool:v1"],
  ["gone", "docker://docker.io/library/gone:latest"],
  ["registry.example/a/b", "docker://registry.example/a/b:latest"],
  ["localhost:5000/a", "docker://localhost:5000/a:latest"],
  ["docker:dind", "docker://docker.io/library/docker:dind"],
  ["docker://registry.example/a:v1", "docker://registry.example/a:v1"],
  ["oci:/srv/a:v1", "oci:/srv/a:v1"],
  ["oci:not/absolute", "oci:not/absolute"],
])("%s is %s", (name, reference) => {
  expect(referenceOf(name, () => [HOST])).toBe(reference);
});

test("of two files with the same alias the last one counts", () => {
  expect(referenceOf("fedora", () => [HOST, '[aliases]\n"fedora" = "quay.io/fedora"\n'])).toBe("docker://quay.io/fedora:latest");
});

test("a text that is no table has no aliases", () => {
  for (const text of ["", "[aliases", "[aliases]\n= x\n[aliases]\n\u0000", "x".repeat(100_000)]) expect(aliasesIn(text).size).toBe(0);
});
