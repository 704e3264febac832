/**
 * What depends on the host where a file is applied: `runtctl apply` refuses it by name, and `runtctl validate` accepts the file with a warning,
 * like `docker compose config`.
 */
import { expect, test } from "vitest";
import { one, only, read, readFile } from "../../../test/support/engine/compose-file.ts";
import { parseCompose } from "./parse.ts";

const validated = (text: string) => parseCompose(text, { environment: {}, profiles: [], directory: "/srv/app", readFile, mayLack: true })!;
const service = (fields: string) => `services:\n  web:\n    ${fields}\n`;

test.each([
  ["a variable of a secret", service("{ image: a, secrets: [s] }").concat("secrets: { s: { environment: NOT_SET } }\n"), "secrets/0"],
  ["a file of a config", service("{ image: a, configs: [c] }").concat("configs: { c: { file: none } }\n"), "configs/0"],
  ["an external secret", service("{ image: a, secrets: [s] }").concat("secrets: { s: { external: true, file: token } }\n"), "secrets/0"],
  ["an external config", service("{ image: a, configs: [c] }").concat("configs: { c: { external: { name: d } } }\n"), "configs/0"],
  ["a tag that is a variable", service("{ image: 'registry.example/web:$NOT_SET' }"), "image"],
  ["another platform", service("{ image: a, platform: linux/riscv64 }"), "platform"],
  ["another platform of a build", service("{ build: { platforms: [linux/riscv64] } }"), "build/platforms/0"],
])("%s", (_, text, pointer) => {
  expect(read(text).findings).toEqual([expect.objectContaining({ pointer: `/services/web/${pointer}` })]);
  const { findings, warnings, tasks } = validated(text);
  expect([findings, tasks.length]).toEqual([[], 1]);
  const told = warnings.filter((warning) => warning.pointer === `/services/web/${pointer}`);
  expect(told.map(({ message }) => message).slice(-1)).toEqual([expect.stringMatching(/: here runtctl apply refuses it$/)]);
});

test("what is wrong anywhere is refused by both", () => {
  expect(validated(service("{ image: a, secrets: [s] }")).findings).toHaveLength(1);
  for (const text of [
    service("{ image: a, secrets: [s] }"),
    service("{ image: 'A B' }"),
    service("{ image: a, configs: [c] }").concat("configs: { c: {} }\n"),
  ])
    expect(validated(text).findings).toEqual(read(text).findings);
});

test("an external volume is one that is there, by its name", () => {
  const volumes = "volumes: { data: { external: true, name: shop.data }, old: { external: { name: older } }, own: { name: mine } }\n";
  expect(only(one("    volumes: ['data:/d', 'old:/o', 'own:/m']\n") + volumes).volumes).toEqual([
    { name: "data", kept: "shop-data", existing: true },
    { name: "old", kept: "older", existing: true },
    { name: "own", kept: "mine" },
  ]);
  const twice = read(`${one("")}volumes: { data: { external: { name: a }, name: b } }\n`).findings;
  expect(twice).toEqual([expect.objectContaining({ pointer: "/volumes/data/name" })]);
});

/** Compose specification, "volumes_from": "mounts all of the volumes from another service". */
test("volumes_from takes volumes without a name, too: both services have the same one", () => {
  const text =
    "services:\n  db: { image: a, volumes: [/var/lib/db, { type: volume, target: /x }, /own] }\n  web: { image: a, volumes_from: ['db:ro'], volumes: ['/own'] }\n";
  const { tasks, findings } = read(text);
  expect(findings).toEqual([]);
  const [db, web] = tasks.map(({ containers, volumes }) =>
    containers[0]!.mounts.map(({ volume, target, readOnly }) => [volumes.find(({ name }) => name === volume)?.kept, target, readOnly]),
  );
  expect(db).toEqual([
    ["anonymous-db-var-lib-db", "/var/lib/db", false],
    ["anonymous-db-x", "/x", false],
    ["anonymous-db-own", "/own", false],
  ]);
  expect(web).toEqual([
    ["anonymous-db-var-lib-db", "/var/lib/db", true],
    ["anonymous-db-x", "/x", true],
    [undefined, "/own", false],
  ]);
});

/** `docker compose config` takes type, source, target and image.subpath. */
test("a volume of type image has the files of an image, or of a directory of it, for reading only", () => {
  const fields =
    "    volumes: [{ type: image, source: acme/data:v1, target: /d }, { type: image, source: a.b/c, target: /e, image: { subpath: /x/y } }]\n";
  const { volumes, containers } = only(one(fields));
  expect(volumes).toEqual([
    { name: "image-0", image: "docker://docker.io/acme/data:v1", pullPolicy: "prefer-cached" },
    { name: "image-1", image: "docker://a.b/c:latest", pullPolicy: "always" },
  ]);
  expect(containers[0]!.mounts).toEqual([
    { volume: "image-0", target: "/d", readOnly: true },
    { volume: "image-1", target: "/e", readOnly: true, subPath: "x/y" },
  ]);
  expect(read(one("    volumes: [{ type: image, target: /d }]\n")).findings).toHaveLength(1);
  expect(read(one("    volumes: [{ type: npipe, source: a, target: /d }]\n")).findings).toHaveLength(1);
});

test("several addresses of a name, an address of a port that is empty, modes in decimal, and models that nobody uses", () => {
  const fields = "    extra_hosts: ['a=192.0.2.1,192.0.2.2']\n    ports: [':80:81']\n    configs: [{ source: c, mode: 644 }]\n";
  const { tasks, findings, warnings } = read(`${one(fields)}configs: { c: { content: x } }\nmodels: { m: { model: ai/x } }\n`);
  expect(findings).toEqual([]);
  expect(tasks[0]!.network).toMatchObject({
    hosts: [
      { name: "a", address: "192.0.2.1" },
      { name: "a", address: "192.0.2.2" },
    ],
    ports: [{ host: 80, container: 81 }],
  });
  expect(tasks[0]!.volumes[0]!.files!["file-0"]!.mode).toBe(0o204);
  expect(warnings.map(({ pointer, message }) => `${pointer}: ${message}`)).toEqual([
    "/services/web/configs/0/mode: is 1204 in octal, of which 204 counts: is 0644 meant?",
    "/models/m: has no effect: models are not served",
  ]);
});
