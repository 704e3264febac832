/** Records of every version there has been, and of two that there may be: docs/decisions/0022-state-versions.md. */
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { migrate } from "../../src/runtime/state/migrate.ts";
import {
  checkRecord,
  isCurrent,
  parseRecord,
  STATE_MINOR,
  STATE_SCHEMA,
  type StateRecord,
  serializeRecord,
} from "../../src/runtime/state/record.ts";

const FIXTURES = "test/fixtures/state";
const fixture = (name: string) => readFileSync(`${FIXTURES}/${name}`, "utf8");

/** What readRecord does with the text of the file. */
function read(text: string): StateRecord {
  const record = parseRecord(text, "x");
  return checkRecord(isCurrent(record) ? record : migrate(record, STATE_MINOR), "x");
}

describe("versions of the state record", () => {
  it("a newer schema is refused", () => {
    expect(() => read(fixture("2.0.json"))).toThrowError(expect.objectContaining({ code: "state-version" }));
  });

  it("takes a newer minor version as it is, with what it does not know", () => {
    const text = fixture("1.99.json");
    expect(read(text)).toEqual(JSON.parse(text));
    // So an older build's update leaves a newer one's fields alone.
    expect(JSON.parse(serializeRecord({ ...read(text), warnings: ["one"] }))).toMatchObject({ minor: 99, later: { field: 1 } });
  });

  it("has a fixture of its own version", () => {
    expect(readdirSync(FIXTURES)).toContain(`${STATE_SCHEMA}.${STATE_MINOR}.json`);
  });
});

describe("records of older builds", () => {
  it.each(readdirSync(FIXTURES).filter((name) => name.startsWith(`${STATE_SCHEMA}.`)))("%s has everything that verbs read", (name) => {
    const record = read(fixture(name));
    expect(record).toMatchObject({
      schema: STATE_SCHEMA,
      id: expect.any(String),
      phase: "created",
      pid: expect.any(Number),
      startTime: expect.stringMatching(/^\d+$/),
      rootfs: expect.stringMatching(/^\//),
      cgroup: { version: expect.any(Number), paths: expect.arrayContaining([expect.any(String)]) },
      startable: true,
      privatePid: true,
      exec: { namespaces: expect.any(Array), chroot: false, keyring: expect.any(Boolean) },
      annotations: expect.any(Object),
      warnings: expect.any(Array),
    });
    expect(record.minor).toBeGreaterThanOrEqual(STATE_MINOR);
  });

  it("before exec: what exec needs is marked as unknown, never made up", () => {
    expect(read(fixture("1.0-without-exec.json")).exec.unknown).toBe(true);
    for (const name of ["1.0-with-exec.json", "1.0.json", "1.1.json", "1.2.json", "1.3.json"])
      expect(read(fixture(name)).exec.unknown).toBeUndefined();
  });

  it("only what is missing is added", () => {
    for (const name of ["1.0-without-exec.json", "1.0-with-exec.json", "1.0.json", "1.1.json", "1.2.json", "1.3.json"]) {
      const { minor: _, ...older } = JSON.parse(fixture(name));
      expect(read(fixture(name))).toMatchObject(older);
    }
  });
});
