/**
 * What Kata Containers' conversion of config.json (docs/kata-annotations.md) that need no container: what is read, what is
 * refused, and where. The rows of pods stand beside src/runtime/config/cri, those that need a kernel in test/e2e/kata-*.test.ts.
 */
import { expect, test } from "vitest";
import { checkSpec } from "../../src/runtime/check/index.ts";
import { deriveConfig } from "../../src/runtime/config/index.ts";
import { validate } from "../../src/runtime/diagnostics/validate/index.ts";
import { RuntError } from "../../src/runtime/errors/index.ts";
import { parseSpec, type Spec } from "../../src/runtime/spec/index.ts";
import { checkRecord, parseRecord } from "../../src/runtime/state/record.ts";
import { applyEdits, CLEAN, exampleView } from "../support/example-host.ts";
import { random } from "../support/random.ts";

function text(edits: Record<string, unknown>): string {
  const config: unknown = structuredClone(CLEAN);
  applyEdits(config, edits);
  return JSON.stringify(config, null, 1);
}

/** "code pointer" of every finding. */
function findings(content: string): string[] {
  return validate(content, { view: exampleView({}), rootless: false, systemd: false }).findings.map(
    ({ code, pointer }) => `${code} ${pointer}`,
  );
}
const found = (edits: Record<string, unknown>): string[] => findings(text(edits));

/** As create does. */
function derive(content: string) {
  const spec = parseSpec(content, /\d{16}/.test(content));
  checkSpec(spec);
  return deriveConfig(spec, { bundle: "/bundle" });
}
const derived = (edits: Record<string, unknown>) => derive(text(edits));

/** Pointer of the error of create. */
function refused(edits: Record<string, unknown>): string | undefined {
  try {
    derived(edits);
  } catch (error) {
    if (error instanceof RuntError) return error.details.pointer;
    throw error;
  }
  throw new Error("nothing is refused");
}

const CAPABILITIES = "/process/capabilities";
const LIST = ["CAP_KILL", "CAP_CHOWN"];

test("K1: a configuration without a linux section says so, and where", () => {
  expect(found({ "/linux": null })).toEqual(["linux-missing /linux"]);
});

test("K6, K19: a plain list of capabilities fills all five sets, with a warning", () => {
  const sets = ["bounding", "effective", "permitted", "inheritable", "ambient"];
  const whole = Object.fromEntries(sets.map((set) => [set, LIST]));
  expect(derived({ [CAPABILITIES]: LIST }).process?.capabilities).toEqual(derived({ [CAPABILITIES]: whole }).process?.capabilities);
  expect(found({ [CAPABILITIES]: LIST })).toEqual([`capabilities-list ${CAPABILITIES}`]);
  expect(found({ [CAPABILITIES]: whole })).toEqual([]);
});

test("K7: fields that nobody knows are taken, and named", () => {
  expect(found({ "/fooBar": 1, "/process/capabilities": { extra: LIST } })).toEqual([
    `field-unknown ${CAPABILITIES}/extra`,
    "field-unknown /fooBar",
  ]);
  expect(derived({ "/fooBar": 1 })).toEqual(derived({}));
});

test("K12: everything behind the first = is the value; no name, no = and NUL are errors, all of them at once", () => {
  const env = ["PATH=/bin", "A=b=c=d", "E="];
  expect(derived({ "/process/env": env }).process?.env).toEqual(env);
  expect(found({ "/process/env": env })).toEqual([]);
  expect(found({ "/process/env": [...env, "NO", "=x", "N=\0"] })).toEqual([3, 4, 5].map((index) => `env-syntax /process/env/${index}`));
});

test("K14: no mounts are none, and their order is kept", () => {
  expect(derived({ "/mounts": null }).mounts).toEqual([]);
  const mounts = ["/z", "/a/b", "/a"].map((destination) => ({ destination, type: "tmpfs", source: "tmpfs" }));
  expect(derived({ "/mounts": mounts }).mounts.map(({ target }) => target)).toEqual(["/z", "/a/b", "/a"]);
});

test("K15: words of a list are compared whole", () => {
  expect(derived({ [CAPABILITIES]: { bounding: ["CAP_SYS_ADMIN"] } }).process?.capabilities?.bounding).toBe(1n << 21n);
  expect(found({ [CAPABILITIES]: { bounding: ["CAP_SYS"] } })).toEqual([`capability-unknown ${CAPABILITIES}/bounding/0`]);
  expect(refused({ "/linux/namespaces": [{ type: "net" }] })).toBe("/linux/namespaces/0/type");
});

const device = (more: object) => ({ type: "c", path: "/dev/x", major: 1, minor: 3, ...more });

test.each([
  ["c", "c"],
  ["b", "b"],
  ["u", "c"],
  ["p", "p"],
])("K16: a device of type %s is made as %s, with 0666 where nothing is said", (type, made) => {
  const config = derived({ "/linux/devices": [type === "p" ? { type, path: "/dev/x" } : device({ type })] });
  expect(config.devices.find(({ path }) => path === "/dev/x")).toMatchObject({ type: made, mode: 0o666, uid: 0, gid: 0 });
});

test("K16, K17: every bad device is named, with its type or its path", () => {
  const bad = [device({ type: "x" }), device({ path: "../../y", minor: 7 }), device({ path: "/dev/ok", minor: 5 })];
  expect(found({ "/linux/devices": bad, "/linux/resources/devices": [{ allow: true, access: "rwm" }] })).toEqual([
    "device-type /linux/devices/0/type",
    "device-path /linux/devices/1/path",
  ]);
  expect(refused({ "/linux/devices": bad })).toBe("/linux/devices/0/type");
});

test("K17: no devices, or no linux section, are the devices that every container has", () => {
  const usual = derived({}).devices.map(({ path }) => path);
  expect(usual).toContain("/dev/null");
  expect(derived({ "/linux": null }).devices.map(({ path }) => path)).toEqual(usual);
});

test.each([
  ["no list", { bounding: "X" }, `field-type ${CAPABILITIES}/bounding`],
  ["no text in a list", { bounding: [1] }, `field-type ${CAPABILITIES}/bounding/0`],
  ["an unknown name", { bounding: ["CAP_FOO"] }, `capability-unknown ${CAPABILITIES}/bounding/0`],
])("K18: capabilities: %s", (_, value, expected) => {
  expect(found({ [CAPABILITIES]: value })).toEqual([expected]);
});

test("K18: a set that is not given is empty", () => {
  expect(derived({ [CAPABILITIES]: { bounding: ["CAP_CHOWN"] } }).process?.capabilities).toEqual({
    bounding: 1n,
    effective: 0n,
    permitted: 0n,
    inheritable: 0n,
    ambient: 0n,
  });
});

test("K20: no capabilities are none at all; what is neither a list nor an object is an error", () => {
  expect(Object.values(derived({}).process?.capabilities ?? {})).toEqual([0n, 0n, 0n, 0n, 0n]);
  for (const value of [7, "CAP_KILL", true]) {
    expect(found({ [CAPABILITIES]: value })).toEqual([`field-type ${CAPABILITIES}`]);
    expect(refused({ [CAPABILITIES]: value })).toBe(CAPABILITIES);
  }
});

test("K21: a configuration without a process is taken, and what that means is said", () => {
  expect(derived({ "/process": null }).process).toBeUndefined();
  expect(found({ "/process": null })).toEqual(["process-missing /process"]);
});

test("K22: a namespace that is given twice is an error, not the last one", () => {
  const namespaces = [{ type: "network" }, { type: "network", path: "/proc/1/ns/net" }];
  expect(refused({ "/linux/namespaces": namespaces })).toBe("/linux/namespaces/1/type");
});

test("K24: numbers of 64 bits stay what they are", () => {
  const content = text({ "/linux/resources/memory": { limit: 1 } }).replace('"limit": 1', '"limit": 9223372036854771712');
  expect(derive(content).resources.memory?.limit).toBe(9223372036854771712n);
});

test("K24: what is wrong with the text is said with line and column; a byte order mark and a double key are not fatal", () => {
  expect(() => parseSpec('{\n "ociVersion": }', false)).toThrow(/:2:16: /);
  const content = text({});
  expect(findings(`\ufeff${content}`)).toEqual(["byte-order-mark "]);
  expect(derive(`\ufeff${content}`)).toEqual(derive(content));
  expect(findings(content.replace('"cwd": "/"', '"cwd": "/tmp", "cwd": "/"'))).toEqual(["field-duplicate /process/cwd"]);
  expect(findings(`${content}}`)).toEqual(["trailing-data "]);
});

test.each(["id", "pid", "startTime", "bundle", "schema"])("K25: a state record without %s is a typed error", (field) => {
  const record: Record<string, unknown> = { schema: 1, id: "c", pid: 1, startTime: "1", bundle: "/b" };
  expect(checkRecord(parseRecord(JSON.stringify(record), "state.json"), "state.json")).toEqual(record);
  delete record[field];
  expect(() => checkRecord(parseRecord(JSON.stringify(record), "state.json"), "state.json")).toThrow(
    expect.objectContaining({ code: "state-unreadable" }),
  );
});

test("K26: a word that no manager uses is refused, by its place", () => {
  const key = "io.kubernetes.cri-o.ContainerType";
  expect(refused({ "/annotations": { [key]: "pod" } })).toBe(`/annotations/${key}`);
});

test("K30: ten thousand broken configurations are taken, or refused with a reason", () => {
  const draw = random(30);
  const base = {
    ...CLEAN,
    hostname: "h",
    annotations: { "io.kubernetes.cri.container-type": "sandbox", "io.kubernetes.cri.sandbox-memory": "1" },
    hooks: { prestart: [{ path: "/usr/bin/hook", args: ["hook"], timeout: 1 }] },
    linux: {
      ...CLEAN.linux,
      devices: [{ type: "c", path: "/dev/x", major: 1, minor: 3 }],
      resources: { memory: { limit: 1048576 }, cpu: { quota: 1000, period: 1000, cpus: "0" }, devices: [{ allow: false, access: "rwm" }] },
      sysctl: { "net.core.somaxconn": "1" },
      seccomp: { defaultAction: "SCMP_ACT_ALLOW", syscalls: [{ names: ["mount"], action: "SCMP_ACT_ERRNO" }] },
    },
  } as unknown as Spec;
  let taken = 0;
  for (let round = 0; round < 10_000; round++) {
    const content = JSON.stringify(mutated(base, draw));
    try {
      derive(content);
      taken++;
    } catch (error) {
      if (!(error instanceof RuntError) || error.code === "internal") throw new Error(`round ${round}: ${content}`, { cause: error });
    }
  }
  // Neither all nor nothing: the mutations reach what is behind the structure.
  expect(taken).toBeGreaterThan(500);
  expect(taken).toBeLessThan(9_500);
});

const STRANGE: readonly unknown[] = [null, 0, -1, 1.5, 2 ** 32, "", "/", "..", "a\0b", "\ud800", [], {}, [null], true, "x".repeat(5000)];

/** One to three values somewhere are something else, gone, or there twice. */
function mutated(base: unknown, draw: (below: number) => number): unknown {
  const root = { root: structuredClone(base) };
  for (let left = 1 + draw(3); left > 0; left--) {
    let parent: Record<string, unknown> = root;
    let key = "root";
    for (let depth = 1 + draw(6); depth > 0; depth--) {
      const value = parent[key];
      if (typeof value !== "object" || value === null || Object.keys(value).length === 0) break;
      parent = value as Record<string, unknown>;
      key = Object.keys(parent)[draw(Object.keys(parent).length)] ?? "";
    }
    const kind = draw(4);
    if (kind === 0) delete parent[key];
    else if (kind === 1 && Array.isArray(parent)) parent.push(structuredClone(parent[Number(key)]));
    else parent[key] = structuredClone(STRANGE[draw(STRANGE.length)]);
  }
  return root.root;
}
