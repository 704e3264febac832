import { expect, test } from "vitest";
import { one, read, told } from "../../../test/support/engine/compose-file.ts";
import { renderFinding } from "../../engine/spec/index.ts";
import { parseCompose } from "./parse.ts";

const FILES: Readonly<Record<string, string>> = {
  "/srv/app/sub/other.yaml": "services:\n  o: { x-runt-rootfs: /r, command: $WHO, volumes: ['./d:/d'], env_file: o.env }\n",
  "/srv/app/sub/o.env": "A=1\n",
  "/srv/app/sub/.env": "WHO=sub\n",
  "/srv/app/named.yaml": "name: other\nversion: '3'\nservices: { n: { x-runt-rootfs: /r, command: $COMPOSE_PROJECT_NAME } }\n",
  "/srv/app/loop.yaml": "include: [loop.yaml]\n",
  "/srv/app/wrong.yaml": "services:\n  w:\n    x-runt-rootfs: /r\n    comand: x\n",
};
const readFile = (path: string) => {
  const text = FILES[path];
  if (text === undefined) throw Object.assign(new Error(`ENOENT: ${path}`), { code: "ENOENT" });
  return Buffer.from(text);
};
const options = { environment: {}, profiles: [], directory: "/srv/app", readFile };
const merged = (text: string, ...others: string[]) =>
  parseCompose(
    text,
    options,
    others.map((other, at) => ({ text: other, file: `over${at}.yaml` })),
  )!;
const tellAll = (file: ReturnType<typeof merged>) => file.findings.map((finding) => renderFinding(finding, "f"));

/** Compose specification, "include". */
test("an included file has its own directory and .env; include alone is a Compose file", () => {
  const { tasks, findings } = merged("include:\n  - sub/other.yaml\n");
  expect(findings).toEqual([]);
  expect(tasks[0]).toMatchObject({ name: "o", containers: [{ command: "sub", env: { A: "1" }, mounts: [{ source: "/srv/app/sub/d" }] }] });
  expect(tellAll(merged("include: [{ path: [loop.yaml] }]\n"))[0]).toContain("/srv/app/loop.yaml includes itself");
  expect(tellAll(merged("include: [none.yaml]\n"))[0]).toContain("/include/0: /srv/app/none.yaml cannot be read");
  expect(tellAll(merged("include: [sub/other.yaml]\nservices: { o: { image: a.b/c } }\n"))[0]).toContain(
    "services.o is in the file and in what",
  );
  expect(tellAll(merged("include: [wrong.yaml]\n"))).toEqual([
    expect.stringMatching(/^\/srv\/app\/wrong\.yaml:4:5: \/services\/w\/comand: .* is command meant\?$/),
  ]);
});

/** Source: compose-go, loader/include.go, importResources. */
test("of an included file only services, networks and the like are taken, and not its name", () => {
  const environment = { COMPOSE_PROJECT_NAME: "outer" };
  const of = (text: string) => parseCompose(text, { ...options, environment })!;
  for (const name of ["", "name: shop\n"]) {
    const file = of(`${name}include: [named.yaml]\n`);
    expect([file.findings, file.name, file.warnings]).toEqual([[], name === "" ? undefined : "shop", []]);
    expect(file.tasks[0]!.containers[0]!.command).toBe("outer");
  }
});

test("of two entries for one target in one file the later one counts", () => {
  const fields = "    volumes: ['/a:/x', '/b:/y', '/c:/x:ro']\n    secrets: [s, { source: s, target: /run/secrets/s, mode: 0o444 }]\n";
  const { tasks, findings } = read(`${one(fields)}secrets: { s: { file: token } }\n`);
  expect(findings).toEqual([]);
  expect(tasks[0]!.containers[0]!.mounts.map(({ source, target }) => [source, target]).slice(0, 2)).toEqual([
    ["/c", "/x"],
    ["/b", "/y"],
  ]);
});

/** Compose specification, "Merge": maps are merged, lists joined, commands replaced; !reset and !override. */
test("a later file is merged over an earlier one", () => {
  const below = one("    environment: { A: '1', B: '1' }\n    ports: ['80:80']\n    cap_add: [SYS_TIME]\n    user: '5'\n");
  const above =
    "services:\n  web: { environment: [B=2], ports: ['81:81'], cap_add: !override [SYS_NICE], user: !reset null }\n  more: { x-runt-rootfs: /r, command: y }\n";
  const { tasks, findings } = merged(below, above);
  expect(findings).toEqual([]);
  expect(tasks.map(({ name }) => name)).toEqual(["web", "more"]);
  expect(tasks[0]!.network!.ports.map(({ host }) => host)).toEqual([80, 81]);
  expect(tasks[0]!.containers[0]).toMatchObject({ env: { A: "1", B: "2" }, capabilities: { add: ["CAP_SYS_NICE"] }, user: "0" });
  expect(tellAll(merged(below, "services:\n  web:\n    restart: maybe\n"))).toEqual([
    expect.stringMatching(/^over0\.yaml:3:5: \/services\/web\/restart: /),
  ]);
  const reset = `${one("    extends: base\n    cap_add: !override [SYS_NICE]\n")}  base: { x-runt-rootfs: /r, command: x, cap_add: [SYS_TIME] }\n`;
  expect(merged(reset).tasks[0]!.containers[0]!.capabilities!.add).toEqual(["CAP_SYS_NICE"]);
});

/**
 * Compose: "services.web.ports must be a array", except for a field that an earlier file has, and for fields that may be null in compose-spec.json.
 */
test("a field without a value is refused where Compose refuses it", () => {
  const empty = (fields: string) => told(one(fields)).map((line) => line.replace(/^f:\d+:\d+: \/services\/web\//, ""));
  const wrong = "has no value: leave it out, or give it one";
  expect(empty("    ports:\n    build: { context: ., ssh: }\n    healthcheck: { test: }\n    x-own:\n")).toEqual([
    `ports: ${wrong}`,
    `build/ssh: ${wrong}`,
    `healthcheck/test: ${wrong}`,
  ]);
  expect(
    empty("    environment: { A: }\n    deploy:\n    build: { args: { A: }, ssh: { default: } }\n    networks: { default: }\n"),
  ).toEqual([]);
  expect(tellAll(merged("services:\n"))).toEqual([expect.stringContaining(`/services: ${wrong}`)]);
  const below = one("    ports: ['80:80']\n    environment: [A=1]\n");
  expect(tellAll(merged(below, "services:\n  web:\n    ports:\n  "))).toEqual([]);
  expect(tellAll(merged(below, "services:\n  web:\n    volumes:\n"))).toEqual([
    expect.stringMatching(/^over0\.yaml:3:5: \/services\/web\/volumes: has no value/),
  ]);
  const { tasks } = merged(below, "services:\n  web: { command: null }\n");
  expect(tasks[0]?.containers[0]?.args ?? []).toEqual([]);
});

test("a fault that several services have from one place is one line, which names them; one that each has itself is a line each", () => {
  const text = `x-a: &a { x-runt-rootfs: /r, entrypoint: [x], restart: sometimes }
x-b: &b { driver: splunk }
services:
  one: { <<: *a, logging: *b, depends_on: [nobody] }
  two: { <<: [*a], logging: *b, volumes: ["none:/n"] }
  base: { x-runt-rootfs: /r, entrypoint: [x], comand: y }
  three: { extends: base, depends_on: [nobody] }
`;
  expect(told(text)).toEqual([
    "f:1:47: /services/one/restart: is no, always, unless-stopped or on-failure[:N] (also in two)",
    expect.stringMatching(/^f:2:11: \/services\/one\/logging\/driver: only .* \(also in two\)$/),
    "f:4:44: /services/one/depends_on/0: there is no service nobody",
    "f:5:43: /services/two/volumes/0: the file has no volume none",
    'f:6:47: /services/base/comand: the field "comand" is not supported: is command meant? (also in three)',
    "f:7:40: /services/three/depends_on/0: there is no service nobody",
  ]);
});

test.each([
  ["no services", "services: {}\n"],
  [
    "services of profiles that are off",
    "services: { web: { image: a, profiles: [p] }, db: { image: b, profiles: [p], depends_on: [web] } }\n",
  ],
])("%s: there are no tasks, and nothing is wrong", (_, text) => {
  const { tasks, findings, warnings } = read(text);
  expect([tasks, findings, warnings]).toEqual([[], [], []]);
});

test("what is wrong in an anchor or in what is extended is told of there", () => {
  const anchor = "x-a: &a\n  comand: x\nservices:\n  web:\n    <<: *a\n    x-runt-rootfs: /r\n    entrypoint: [x]\n";
  expect(told(anchor)).toEqual(['f:2:3: /services/web/comand: the field "comand" is not supported: is command meant?']);
  const base = `${one("    extends: base\n")}  base:\n    x-runt-rootfs: /r\n    command: y\n    restart: maybe\n`;
  expect(told(base).map((line) => line.split(": ")[0])).toEqual(["f:9:5"]);
});

test("all faults are told of in one run, one line each", () => {
  const text =
    "services:\n  web:\n    image: a.b/c\n    port: [80]\n    depends_on: [nobody]\n    volumes: ['missing:/b']\n    ports: [{ target: 80, publish: 1 }]\n";
  expect(told(text)).toEqual([
    'f:4:5: /services/web/port: the field "port" is not supported: is ports meant?',
    "f:5:18: /services/web/depends_on/0: there is no service nobody",
    "f:6:15: /services/web/volumes/0: the file has no volume missing",
    'f:7:27: /services/web/ports/0/publish: the field "publish" is not supported: is published meant?',
  ]);
});

test("aliases are bounded by what they grow to, not by how many there are", () => {
  const uses = Array.from({ length: 300 }, (_, at) => `  s${at}: { <<: *a, profiles: [x] }\n`).join("");
  expect(read(`x-a: &a { image: a.b/c }\nservices:\n${uses}`).findings).toEqual([]);
  const wide = Array.from({ length: 2000 }, (_, at) => `  k${at}: 1\n`).join("");
  const bomb = `x-a: &a\n${wide}services:\n${Array.from({ length: 2000 }, (_, at) => `  s${at}: { <<: *a }\n`).join("")}`;
  expect(told(bomb)).toEqual([expect.stringContaining("values, those of aliases counted")]);
});
