import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { renderFinding } from "../engine/index.ts";
import { configurationOf, valuesOf } from "./config.ts";
import { configSchema, fieldOf, parseConfig, readConfig } from "./config-file.ts";
import { SETTING_OPTIONS } from "./options.ts";
import { USAGE } from "./usage.ts";

const told = (text: string) => parseConfig(text).findings.map((one) => renderFinding(one, "runtd.json"));

/** Each field, and the options that say the same. */
const SAME: Readonly<Record<string, readonly [value: unknown, ...words: string[]]>> = {
  "state-dir": ["/s"],
  "run-dir": ["/r"],
  "cgroup-parent": ["/c"],
  "cgroup-manager": ["systemd"],
  "no-task-limits": [true],
  runtime: ["/bin/runt"],
  "runtime-class": [{ vm: "/bin/runt-vm", b: "/b" }, "vm=/bin/runt-vm", "b=/b"],
  "user-ids": ["100000:131072"],
  "launch-timeout": ["3m"],
  cpus: [1.5],
  memory: ["2Gi"],
  queue: ["backfill"],
  "too-large": ["refuse"],
  orphans: ["adopt"],
  "port-taken": ["refuse"],
  "cdi-path": [["/a", "/b"], "/a:/b"],
  "cni-path": [["/c"], "/c"],
  resolver: ["/usr/bin/aardvark-dns"],
  "packet-filter": ["nft"],
  "network-timeout": ["5s"],
  "network-check": ["2m"],
  "volume-check": ["20s"],
  "journal-socket": ["/j"],
  "pull-policy": ["once"],
  "pull-timeout": ["1m"],
  "build-timeout": ["2h"],
  "pulls-at-once": [5],
  "image-max-size": ["1Gi"],
  "image-max-files": [1000],
  "image-roots": ["copy"],
  "image-gc-every": ["0s"],
  "image-gc-age": ["1h"],
  "image-gc-count": [2],
  "image-gc-full": [80],
  "image-gc-keep": [["a", "b"]],
  "pull-upfront": [true],
  credentials: [{ default: { file: "/f" }, ci: { exec: "/e" } }, "default=file:/f", "ci=exec:/e"],
  interlink: [true],
  "interlink-listen": ["127.0.0.1:4000"],
  "interlink-token": ["TOKEN"],
  "interlink-host": [["edge"]],
  "interlink-host-path": [["/srv"]],
  "interlink-network": ["none"],
  watch: [["/srv/apps", "/srv/more"]],
  "watch-every": ["5s"],
};

let directory = "";
let path = "";
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "runt-config-"));
  path = join(directory, "runtd.json");
});
afterEach(() => rmSync(directory, { recursive: true }));

test("each option that is a setting has a field with the same meaning, a place in the help and in the schema", () => {
  expect(Object.keys(SAME)).toEqual(Object.keys(SETTING_OPTIONS));
  const token = join(directory, "token");
  writeFileSync(token, "t".repeat(40), { mode: 0o600 });
  const same = { ...SAME, "interlink-token": [token] as const };
  const text = JSON.stringify(Object.fromEntries(Object.entries(same).map(([name, [value]]) => [fieldOf(name), value])));
  expect(told(text)).toEqual([]);
  const words = Object.entries<readonly [unknown, ...string[]]>(same).flatMap(([name, [value, ...given]]) =>
    value === true ? [`--${name}`] : (given.length > 0 ? given : [value].flat().map(String)).flatMap((one) => [`--${name}`, one]),
  );
  expect(configurationOf(parseConfig(text).settings)).toEqual({ ...configurationOf(valuesOf(words)), isStateDirGiven: true });
  const fields = Object.keys((configSchema() as { properties: object }).properties);
  expect(fields).toEqual(["$schema", ...Object.keys(SETTING_OPTIONS).map(fieldOf)]);
  for (const name of Object.keys(SETTING_OPTIONS)) expect(USAGE).toMatch(new RegExp(`--${name}\\b`));
});

test("an option takes precedence over its field", () => {
  const { settings } = parseConfig('{ "queue": "backfill", "imageGcKeep": ["a"], "runDir": "/r" }');
  const { engine, runDir } = configurationOf({ ...settings, ...valuesOf(["--queue", "fifo", "--image-gc-keep", "b"]) });
  expect([engine.queue?.order, engine.images?.cleanUp?.kept, runDir]).toEqual(["fifo", ["b"], "/r"]);
});

test("what is wrong is told with line and column, and a misspelt field with the one that is meant", () => {
  expect(told('{\n  "stateDri": "/s",\n  "cpus": "two",\n  "moved": true\n}')).toEqual([
    'runtd.json:2:3: /stateDri: the field "stateDri" is not supported: is stateDir meant?',
    "runtd.json:3:3: /cpus: expected a number, not a string",
    'runtd.json:4:3: /moved: the field "moved" is not supported',
  ]);
  expect(told('{ "stateDir": "s" }')).toEqual(["runtd.json:1:3: /stateDir: has to be an absolute path"]);
  expect(told('{ "launchTimeout": "soon" }')[0]).toMatch(/^runtd\.json:1:3: \/launchTimeout: /);
  expect(told('{ "userIds": "1" }')[0]).toMatch(/^runtd\.json:1:3: \/userIds: user-ids: 1: write FIRST:COUNT/);
  expect(told('{ "queue": "x" }')).toEqual(['runtd.json:1:3: /queue: expected "fifo" or "backfill"']);
  expect(told('{ "credentials": { "a b": { "file": "/f" } } }')[0]).toMatch(/name like default/);
  expect(told('{ "credentials": { "a": { "files": "/f" } } }')[0]).toMatch(/^runtd\.json:1:\d+: \/credentials\/a/);
  expect(told("{\n")[0]).toMatch(/^runtd\.json:\d+:\d+: /);
  expect(told("")[0]).toMatch(/no configuration/);
  expect(told("a: 1\n---\nb: 2\n").join()).toMatch(/more than one document/);
  expect(told("[]")).toEqual(["runtd.json:1:1: expected an object, not a list"]);
});

test("only the usual file may be missing, and one that others may write is refused", () => {
  expect(() => readConfig(path)).toThrow("ENOENT");
  writeFileSync(path, '{ "queue": "fifo" }', { mode: 0o644 });
  expect(readConfig(path)).toEqual({ path, settings: { queue: "fifo" }, findings: [] });
  chmodSync(path, 0o666);
  expect(() => readConfig(path)).toThrow("may be written by other users");
});

test("each line of the help fits on a terminal of 80 columns", () => {
  expect(USAGE.split("\n").filter((line) => line.length > 80)).toEqual([]);
});
