import { describe, expect, it } from "vitest";
import { migrate } from "./migrate.ts";
import {
  checkRecord,
  isCurrent,
  parseRecord,
  parseSummary,
  STATE_MINOR,
  STATE_SCHEMA,
  type StateRecord,
  serializeRecord,
} from "./record.ts";

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

  describe("summary", () => {
    const SUMMARY = ["id", "phase", "ociVersion", "bundle", "rootfs", "created", "owner", "pid", "startTime", "annotations", "cgroup"];
    const { annotations, cgroup, startTime, startable, ...others } = RECORD;
    const inOrder = { ...others, startTime, annotations, cgroup, startable, exec: RECORD.exec } as StateRecord;
    const of = (text: string) => parseSummary(text, "x");

    it("is what stands before `startable`, and no more is parsed", () => {
      const { warnings, exec, privatePid, ...head } = others;
      const text = serializeRecord({ ...head, annotations, cgroup, startable, warnings, exec, privatePid } as StateRecord);
      expect(of(text)).toEqual({ ...head, annotations, cgroup });
    });

    it.each([
      ["a record in the order of an older build", RECORD],
      ["an annotation of that name", { ...inOrder, annotations: { a: "b", startable: "no" } }],
      ["an annotation that looks like the end", { ...inOrder, annotations: { a: ',"startable":true}' } }],
    ])("is complete with %s", (_, record) => {
      const summary = of(serializeRecord(record as StateRecord)) as Record<string, unknown>;
      for (const field of SUMMARY) expect(summary[field]).toEqual((record as unknown as Record<string, unknown>)[field]);
    });

    it("of a text that ends early is none", () => {
      const text = serializeRecord(inOrder);
      expect(() => of(text.slice(0, -1))).toThrowError(expect.objectContaining({ code: "state-unreadable" }));
    });
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
