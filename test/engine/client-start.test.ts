/** The client as it is built: with the code that V8 has made of it, and without. */
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { REPOSITORY } from "../support/programs.ts";

let directory: string;
const inClient = (name: string) => join(directory, "dist/runtctl", name);
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "runt-client-start-"));
  mkdirSync(join(directory, "dist"));
  // No packages of npm are there, and nothing else of dist.
  for (const path of ["package.json", "dist/runtctl"]) cpSync(join(REPOSITORY, path), join(directory, path), { recursive: true });
  for (const [name, text] of Object.entries(FILES)) writeFileSync(join(directory, name), text);
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const FILES = {
  "task.yaml": "name: web\ncontainers: [{ name: app, rootfs: /r, command: /bin/true }]\n",
  "pod.yaml":
    "{ apiVersion: v1, kind: Pod, metadata: { name: db }, spec: { containers: [{ name: app, image: docker.io/library/db:1 }] } }\n",
  "compose.yaml": "services: { mail: { image: docker.io/library/mail:1, network_mode: none } }\n",
  "wrong.yaml": "services: { mail: { image: docker.io/library/mail:1, network_mode: some } }\n",
};

/** Whether V8 takes the code: it is asked in a process with the flags of the client. */
function isTaken(name: string): boolean {
  const script = `
    const { readFileSync } = require("node:fs");
    const [source, cache] = ["js", "cache"].map((kind) => readFileSync("dist/runtctl/${name}." + kind));
    const cachedData = cache.subarray(source.indexOf("\\n") + 1);
    console.log(new (require("node:vm").Script)(source.toString("latin1"), { cachedData }).cachedDataRejected === false);`;
  return execFileSync(process.execPath, ["-e", script], { cwd: directory, encoding: "utf8" }) === "true\n";
}

function client(...words: readonly string[]): readonly [number | null, string, string] {
  const { status, stdout, stderr } = spawnSync(process.execPath, [inClient("main.js"), ...words], { encoding: "utf8", cwd: directory });
  return [status, stdout, stderr];
}

/** What each of the two files is for, and what is said then; and a text of it, with another one of the same length. */
const USES = [
  {
    name: "client",
    words: ["--version"],
    says: [0, `${JSON.parse(readFileSync(join(REPOSITORY, "package.json"), "utf8")).version}\n`, ""],
    text: { words: ["--help"], is: "Tasks of runtd", other: "Tasks of sorts" },
  },
  {
    name: "parsers",
    words: ["validate", "-f", "compose.yaml"],
    says: [0, "compose.yaml: mail: no errors\n", ""],
    text: { words: ["validate", "-f", "wrong.yaml"], is: "host and bridge are supported", other: "host and bridge are available" },
  },
] as const;

test.for(USES)("V8 takes the code that was made of $name when the client was built, and the client says the same with it", (use) => {
  expect(isTaken(use.name)).toBe(true);
  expect(client(...use.words)).toEqual(use.says);
});

test.for(USES)("code of another V8 and none at all: $name is compiled", ({ name, words, says }) => {
  const cache = inClient(`${name}.cache`);
  const whole = readFileSync(cache);
  const digest = whole.indexOf("\n") + 1;
  const ofOtherV8 = Buffer.from(whole);
  ofOtherV8.fill(0xff, digest, digest + 16);
  for (const bytes of [ofOtherV8, Buffer.alloc(0), undefined]) {
    if (bytes === undefined) rmSync(cache);
    else writeFileSync(cache, bytes);
    expect(client(...words)).toEqual(says);
  }
  writeFileSync(cache, whole);
});

test.for(USES)("code of another source of the same length is not taken for $name", ({ name, text }) => {
  const path = inClient(`${name}.js`);
  const whole = readFileSync(path, "latin1");
  expect(client(...text.words).join()).toContain(text.is);
  // V8 compares the length; only the digest in the first line says that it is another source.
  writeFileSync(path, `//${"0".repeat(64)}${whole.slice(66).replaceAll(text.is, text.other)}`);
  expect(readFileSync(path)).toHaveLength(whole.length);
  expect(client(...text.words).join()).toContain(text.other);
  writeFileSync(path, whole);
});

test("what reads files is beside the client with all that it takes, and other verbs do not need it", () => {
  for (const [file, name] of [
    ["task.yaml", "web"],
    ["pod.yaml", "db"],
    ["compose.yaml", "mail"],
  ] as const)
    expect(client("validate", "-f", file)).toEqual([0, `${file}: ${name}: no errors\n`, ""]);
  const [status, , stderr] = client("delete", "-f", "wrong.yaml");
  expect([status, stderr]).toEqual([1, expect.stringMatching(/^wrong\.yaml:1:\d+: .*only none, host and bridge are supported/)]);
  expect(JSON.parse(client("schema")[1])).toHaveProperty("properties.containers");
  const unreachable = [3, "", "runtctl: /dev/null/none: connect ENOTDIR /dev/null/none\n"];
  expect(client("-s", "/dev/null/none", "get", "web", "-o", "yaml")).toEqual([
    3,
    expect.stringContaining("phase: Unknown\n"),
    unreachable[2],
  ]);
  rmSync(inClient("parsers.js"));
  for (const words of [["get"], ["delete", "web"], ["apply", "-f", "task.yaml"]]) {
    expect(client("-s", "/dev/null/none", ...words)).toEqual(unreachable);
  }
});
