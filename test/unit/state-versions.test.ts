/** Records of every version there has been, and of two that there may be: docs/decisions/0022-state-versions.md. */

import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
  checkRecord,
  isCurrent,
  migrate,
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
  const names = readdirSync(FIXTURES).filter((name) => name.startsWith(`${STATE_SCHEMA}.`));

  it.each(names)("%s has everything that verbs read", (name) => {
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
      // What has joined another's machine has the pid namespace of its monitor.
      privatePid: name !== "1.3-joined.json",
      exec: { namespaces: expect.any(Array), chroot: false, keyring: expect.any(Boolean) },
      annotations: expect.any(Object),
      warnings: expect.any(Array),
    });
    expect(record.minor).toBeGreaterThanOrEqual(STATE_MINOR);
  });

  it("before exec: what exec needs is marked as unknown, never made up", () => {
    expect(read(fixture("1.0-without-exec.json")).exec.unknown).toBe(true);
    for (const name of names.filter((each) => each !== "1.0-without-exec.json")) expect(read(fixture(name)).exec.unknown).toBeUndefined();
  });

  it("only what is missing is added", () => {
    for (const name of names) {
      const { minor: _, ...older } = JSON.parse(fixture(name));
      expect(read(fixture(name))).toMatchObject(older);
    }
  });

  it("before `machine`: what stood in other places is the machine of a container that is in one, and of no other", () => {
    const machines = Object.fromEntries(names.map((name) => [name, read(fixture(name)).machine]));
    expect(machines).toEqual({
      ...Object.fromEntries(names.map((name) => [name, undefined])),
      "1.4.json": null,
      "1.3-machine.json": { socket: "/run/monitor.sock", memoryMiB: 160 },
      "1.3-joined.json": { socket: "/proc/1/root/run/monitor.sock", memoryMiB: 256, joined: { pid: 700, startTime: "9900" } },
    });
  });

  it("a container that was asked to be on the host is in no machine, and a damaged environment holds up no verb", () => {
    const { annotations, exec, ...rest } = JSON.parse(fixture("1.3-machine.json"));
    const machineOf = (change: object) => read(JSON.stringify({ ...rest, annotations, exec, ...change })).machine;
    expect(machineOf({ annotations: { ...annotations, "io.runt.isolation": "host" } })).toBeUndefined();
    expect(machineOf({ exec: { ...exec, process: { ...exec.process, env: ["RUNT_MACHINE_0={"] } } })).toEqual({
      socket: "/run/monitor.sock",
    });
    expect(machineOf({ phase: "creating", exec: { unknown: true, namespaces: [], chroot: false, keyring: false } })).toEqual({
      socket: "/run/monitor.sock",
    });
  });
});
