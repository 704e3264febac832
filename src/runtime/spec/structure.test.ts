import { describe, expect, it } from "vitest";
import validate from "../../../build/gen/validate.js";
import containerd from "../../../test/fixtures/specs/containerd.json";
import podman from "../../../test/fixtures/specs/podman.json";
import type { JsonValue } from "./json.ts";
import { findStructure } from "./structure.ts";

const MINIMAL = { ociVersion: "1.3.0", process: { cwd: "/" } };
const violations = (value: JsonValue) => findStructure(value).violations.map(({ kind, pointer }) => `${kind} ${pointer}`);

describe("findStructure", () => {
  it.each([
    ["containerd's", containerd as JsonValue],
    ["Podman's", podman as JsonValue],
    ["the smallest", MINIMAL],
  ])("has nothing to say of %s configuration", (_name, value) => expect(findStructure(value)).toEqual({ violations: [], strangers: [] }));

  it("finds all that is wrong", () => {
    const value = {
      root: { path: 1 },
      process: { args: ["a", 2, null], user: { uid: -1, gid: 1.5 }, rlimits: [{ type: "RLIMIT_CORE", soft: 2n ** 64n, hard: 1 }, null] },
      mounts: {},
      linux: { resources: { pids: { limit: "1" }, rdma: { mlx: { hcaHandles: 2 ** 32 } } } },
    };
    expect(violations(value)).toEqual([
      "missing /ociVersion",
      "type /root/path",
      "missing /process/cwd",
      "type /process/args/1",
      "type /process/args/2",
      "range /process/user/uid",
      "range /process/user/gid",
      "range /process/rlimits/0/soft",
      "type /process/rlimits/1",
      "type /mounts",
      "type /linux/resources/pids/limit",
      "range /linux/resources/rdma/mlx/hcaHandles",
    ]);
  });

  it("takes null for what may be left out, and not for what may not", () => {
    expect(violations({ ...MINIMAL, mounts: null, linux: { seccomp: null } })).toEqual([]);
    expect(violations({ ...MINIMAL, ociVersion: null })).toEqual(["type /ociVersion"]);
  });

  it.each<[string, JsonValue, readonly string[]]>([
    ["a misspelt field", { ...MINIMAL, hostnam: "x" }, ["hostname"]],
    ["another letter case", { ...MINIMAL, HostName: "x" }, ["hostname"]],
    ["one of few", { ...MINIMAL, root: { path: "r", writable: true } }, ["path", "readonly"]],
    ["nothing near", { ...MINIMAL, zzzzzzzz: 1 }, []],
  ])("names what is meant by %s", (_name, value, close) =>
    expect(findStructure(value).strangers.map((found) => found.close)).toEqual([close]),
  );

  it.each([null, 1, "x", [], true].map((value) => [JSON.stringify(value), value] as const))("survives %s", (_name, value) =>
    expect(violations(value)).toEqual(["type "]),
  );
});

function copy(value: JsonValue): JsonValue {
  if (typeof value !== "object" || value === null) return value;
  return Array.isArray(value) ? value.map(copy) : Object.fromEntries(Object.entries(value).map(([key, member]) => [key, copy(member)]));
}

/** The same random numbers every time (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const VALUES: readonly JsonValue[] = [null, true, 0, -1, 1.5, 2 ** 32, 2n ** 64n, -(2n ** 63n), "x", [], {}, [null], [1], ["a"], { a: 1 }];

/** Replace, remove or add one value somewhere. */
function mutate(value: JsonValue, random: () => number): void {
  if (typeof value !== "object" || value === null) return;
  const keys = Object.keys(value);
  const key = keys[Math.floor(random() * keys.length)];
  const object = value as Record<string, JsonValue>;
  if (key !== undefined && typeof object[key] === "object" && object[key] !== null && random() < 0.8) {
    mutate(object[key], random);
    return;
  }
  const other = copy(VALUES[Math.floor(random() * VALUES.length)] ?? null);
  if (key === undefined) object["0"] = other;
  else if (random() < 0.2 && !Array.isArray(value)) delete object[key];
  else object[key] = other;
}

it("agrees with the validator of create on 5000 mutants", () => {
  const random = seeded(7);
  const sources = [containerd, podman] as unknown as JsonValue[];
  let refused = 0;
  for (let count = 0; count < 5000; count++) {
    const mutant = copy(sources[count % sources.length] as JsonValue);
    for (let times = 1 + Math.floor(random() * 3); times > 0; times--) mutate(mutant, random);
    const accepted = validate(mutant);
    if (!accepted) refused += 1;
    const own = violations(mutant);
    expect(own.length === 0, `${own.join(", ")} against ${JSON.stringify(validate.errors)}`).toBe(accepted);
  }
  expect(refused).toBeGreaterThan(1000);
});
