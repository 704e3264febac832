import { describe, expect, it } from "vitest";
import { checkRecord, isCurrent, migrate, parseRecord, STATE_MINOR, STATE_SCHEMA, type StateRecord, serializeRecord } from "./record.ts";

const RECORD: StateRecord = {
  schema: STATE_SCHEMA,
  minor: STATE_MINOR,
  id: "web",
  phase: "created",
  ociVersion: "1.2.0",
  bundle: "/bundles/web",
  rootfs: "/bundles/web/rootfs",
  created: "2026-01-02T03:04:05.000000006Z",
  owner: 0,
  pid: 42,
  startTime: "123456789012345678",
  cgroup: { version: 2, paths: ["/sys/fs/cgroup/runt/web"] },
  startable: true,
  privatePid: true,
  exec: { namespaces: ["pid", "mount"], chroot: false, keyring: true },
  annotations: { "org.example.key": "value" },
  warnings: [],
};

/** What readRecord does with the text of the file. */
function read(text: string): StateRecord {
  const record = parseRecord(text, "x");
  return checkRecord(isCurrent(record) ? record : migrate(record, STATE_MINOR), "x");
}

describe("state record", () => {
  it("survives being written and read", () => {
    expect(read(serializeRecord(RECORD))).toEqual(RECORD);
  });

  it.each([
    ["", "x: not JSON"],
    ["[]", "x: not a state record"],
    ["null", "x: not a state record"],
    ["{}", "x: not a state record"],
    ['{"schema":0}', "x: not a state record"],
    ['{"schema":"1"}', "x: not a state record"],
    ['{"schema":1,"minor":-1}', "x: not a state record"],
    ['{"schema":1,"minor":1.5}', "x: not a state record"],
    ['{"schema":1,"id":"web"}', "x: fields are missing"],
    ['{"schema":1,"minor":1,"id":"web"}', "x: fields are missing"],
  ])("refuses %j", (text, message) => {
    expect(() => read(text)).toThrowError(expect.objectContaining({ code: "state-unreadable", message }));
  });

  it("refuses a newer schema by another code: such a container is not damaged, and must not be removed as if it were", () => {
    const message = `x: state version 2.0 is newer than ${STATE_SCHEMA}.${STATE_MINOR}`;
    expect(() => read('{"schema":2}')).toThrowError(expect.objectContaining({ code: "state-version", message }));
  });
});
