/** `build` of services. Comments give the output of `docker compose config` for the same inputs. */
import { expect, test } from "vitest";
import { read } from "../../../test/support/engine/compose-file.ts";

const environment = { COMPOSE_PROJECT_NAME: "shop", WORD: "outer", SSH_AUTH_SOCK: "/run/agent" };
const built = (text: string, profiles: string[] = []) => {
  const { findings, builds, warnings, tasks } = read(text, { environment, profiles });
  expect(findings).toEqual([]);
  return { builds, tasks, warned: warnings.map(({ pointer, message }) => `${pointer}: ${message}`) };
};
const web = (build: string, fields = "") => `services: { web: { build: ${build}${fields === "" ? "" : `, ${fields}`} } }\n`;
const only = (build: string, fields = "") => {
  const { builds } = built(web(build, fields));
  expect(builds).toHaveLength(1);
  return builds[0]!;
};

test("a string is the context; its name is PROJECT-SERVICE, and no registry is asked for it", () => {
  const { builds, tasks, warned } = built(web("./site"));
  expect(builds).toEqual([
    {
      ...{ service: "web", policy: "missing", isNamed: false, after: [] },
      request: {
        ...{ reference: "docker://docker.io/library/shop-web:latest", context: "/srv/app/site", network: "default" },
        ...{ args: {}, labels: {}, tags: [], contexts: {}, hosts: [], ulimits: {}, secrets: {}, ssh: {}, noCache: false, pull: false },
      },
    },
  ]);
  expect(tasks[0]!.containers[0]).toMatchObject({ image: "docker://docker.io/library/shop-web:latest", pullPolicy: "never" });
  expect(warned).toEqual([]);
  expect(only(".", "image: ''")).toMatchObject({ isNamed: false, request: { reference: "docker://docker.io/library/shop-web:latest" } });
  // Compose sets "." without a context.
  expect(only("{ dockerfile_inline: FROM scratch }").request).toMatchObject({ context: "/srv/app", inline: "FROM scratch" });
});

test("every field: lists and maps, variables of the environment, paths beside the file", () => {
  const { builds, warned } = built(`services:
  web:
    image: registry.example/shop/web:v1
    build:
      context: .
      dockerfile: docker/Dockerfile
      target: app
      args: [A=1, "B=", WORD, UNSET]
      labels: { l: 1, x-own: kept }
      tags: [shop, "registry.example/shop/web:v1.2"]
      platforms: [linux]
      additional_contexts: { lib: ../lib, base: "docker-image://alpine:3", more: "https://host.example/a.tar.gz" }
      secrets: [token, { source: token, target: other }]
      ssh: [default, key=./id]
      cache_from: [a]
      cache_to: [b]
      no_cache: "true"
      pull: true
      network: host
      extra_hosts: ["db=192.0.2.7", "v6=[2001:db8::1]"]
      shm_size: 2m
      ulimits: { nofile: { soft: 10, hard: 20 }, nproc: 5 }
      privileged: false
      isolation: default
      entitlements: [network.host]
      provenance: mode=max
      sbom: false
secrets: { token: { file: token } }
`);
  expect(builds[0]).toEqual({
    ...{ service: "web", policy: "missing", isNamed: true, after: [] },
    request: {
      ...{ reference: "docker://registry.example/shop/web:v1", context: "/srv/app", dockerfile: "docker/Dockerfile", target: "app" },
      args: { A: "1", B: "", WORD: "outer" },
      labels: { l: "1", "x-own": "kept" },
      tags: ["docker://docker.io/library/shop:latest", "docker://registry.example/shop/web:v1.2"],
      contexts: { lib: "/srv/lib", base: "docker-image://alpine:3", more: "https://host.example/a.tar.gz" },
      secrets: { token: Buffer.from("s3cr3t\n").toString("base64"), other: Buffer.from("s3cr3t\n").toString("base64") },
      ssh: { default: "/run/agent", key: "/srv/app/id" },
      ...{ noCache: true, pull: true, network: "host", shmSize: 2 * 1024 * 1024 },
      hosts: [
        { name: "db", address: "192.0.2.7" },
        { name: "v6", address: "2001:db8::1" },
      ],
      ulimits: { nofile: { soft: 10, hard: 20 }, nproc: { soft: 5, hard: 5 } },
    },
  });
  expect(warned).toEqual([
    "/services/web/build/provenance: has no effect: nothing is attested of an image that stays on this host",
    "/services/web/build/cache_from: has no effect: the builder keeps its layers on this host",
    "/services/web/build/cache_to: has no effect: the builder keeps its layers on this host",
  ]);
  // A map in which null means the value of the variable.
  expect(only("{ args: { WORD: , UNSET: , N: 2 } }").request.args).toEqual({ WORD: "outer", N: "2" });
});

test.each([
  ["build", "build"],
  ["always", "always"],
  ["never", "never"],
  ["if_not_present", "missing"],
  ["daily", "always"],
])("pull_policy %s beside a build", (given, policy) => {
  expect(only(".", `image: a, pull_policy: ${given}`)).toMatchObject({ policy, isNamed: true });
});

test.each(["https://host.example/a.git", "git://host.example/a", "github.com/a/b", "http://host.example/a.tgz"])(
  "the builder fetches %s itself",
  (context) => expect(only(context).request.context).toBe(context),
);

test("the image of another service is built before, also of one that is not switched on; who names an image that is built has that", () => {
  const { builds, tasks } = built(`services:
  last: { build: { additional_contexts: ["base=service:middle"] } }
  middle: { build: { additional_contexts: { base: service:first } }, profiles: [off] }
  first: { build: ., profiles: [off] }
  worker: { image: docker.io/library/shop-last, command: [x] }
  other: { image: shop-last:v2 }
`);
  expect(builds.map(({ service }) => service)).toEqual(["first", "middle", "last"]);
  expect(builds[2]!.request.contexts).toEqual({ base: "docker-image://docker.io/library/shop-middle:latest" });
  expect(tasks.map(({ containers: [one] }) => [one!.image, one!.pullPolicy])).toEqual([
    ["docker://docker.io/library/shop-last:latest", "never"],
    ["docker://docker.io/library/shop-last:latest", "never"],
    ["docker://docker.io/library/shop-last:v2", "prefer-cached"],
  ]);
});

test("two files: a string and a map are one build, arguments by name, tags once; a base elsewhere keeps its paths", () => {
  const text = `services: { web: { build: ./a } }
---
services: { web: { build: { target: t, args: [A=1, B=1], tags: [x] } } }
---
services: { web: { build: { args: { A: 2 }, tags: [x, y] } } }
`;
  expect(built(text).builds[0]!.request).toMatchObject({
    ...{ context: "/srv/app/a", target: "t", args: { A: "2", B: "1" } },
    tags: ["docker://docker.io/library/x:latest", "docker://docker.io/library/y:latest"],
  });
});

test("a name that is none of an image is told of where it stands", () => {
  const told = (text: string) => read(text, { environment }).findings.map(({ pointer, message }) => `${pointer}: ${message}`);
  expect(told(web(".", "image: 'A B'"))).toEqual(["/services/web/image: A B is no name of an image that is built: write NAME or NAME:TAG"]);
  const digest = `a@sha256:${"0".repeat(64)}`;
  expect(told(web(".", `image: '${digest}'`))).toEqual([
    `/services/web/image: ${digest} is no name of an image that is built: write NAME or NAME:TAG`,
  ]);
  expect(told("services: { web: { command: x } }\n")).toEqual([
    "/services/web/image: needs an image, a build, or its root file system as x-runt-rootfs",
  ]);
});
