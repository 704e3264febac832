import { describe, expect, it } from "vitest";
import { parseRecord, STATE_SCHEMA, type StateRecord, serializeRecord } from "./record.ts";

const RECORD: StateRecord = {
  schema: STATE_SCHEMA,
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

describe("state record", () => {
  it("survives being written and read", () => {
    expect(parseRecord(serializeRecord(RECORD), "x")).toEqual(RECORD);
  });

  it.each([
    ["", "x: not JSON"],
    ["[]", "x: not a state record"],
    ["null", "x: not a state record"],
    ['{"schema":2}', "x: schema 2 is not 1"],
    ['{"schema":1,"id":"web"}', "x: fields are missing"],
  ])("refuses %j", (text, message) => {
    expect(() => parseRecord(text, "x")).toThrowError(expect.objectContaining({ code: "state-unreadable", message }));
  });
});
