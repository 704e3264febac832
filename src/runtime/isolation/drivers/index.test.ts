import { describe, expect, it } from "vitest";
import { STATE_MINOR, STATE_SCHEMA, type StateRecord } from "../../state/index.ts";
import { HOST } from "./host.ts";
import { isolationOf } from "./index.ts";

const RECORD: StateRecord = {
  ...{ schema: STATE_SCHEMA, minor: STATE_MINOR, id: "web", phase: "created", ociVersion: "1.2.0", bundle: "/b", rootfs: "/b/rootfs" },
  ...{ created: "2026-01-02T03:04:05.000000006Z", owner: 0, pid: 0, startTime: "0", startable: true, privatePid: true },
  ...{ exec: { namespaces: [], chroot: false, keyring: true }, annotations: {}, warnings: [] },
};
const OWN = { socket: "/run/monitor.sock", memoryMiB: 160 };
const JOINED = { socket: "/proc/1/root/run/monitor.sock", memoryMiB: 256, joined: { pid: 700, startTime: "9900" } };
const OWNER = { mark: { id: "web" }, init: () => 0 };
const inMachine = (machine: NonNullable<StateRecord["machine"]>) => isolationOf({ ...RECORD, machine });

describe("where a container runs", () => {
  it("is what its record says, whatever its annotations are", () => {
    expect(isolationOf(RECORD)).toBe(HOST);
    expect(isolationOf({ ...RECORD, annotations: { "io.runt.isolation": "vm" } })).toBe(HOST);
    expect(inMachine(OWN)).not.toBe(HOST);
  });

  it("decides what cannot be had", () => {
    expect(() => HOST.requireHost("a checkpoint")).not.toThrow();
    for (const machine of [OWN, JOINED]) {
      expect(() => inMachine(machine).requireHost("a checkpoint")).toThrowError(
        expect.objectContaining({ code: "not-supported", message: "a container in a machine cannot have a checkpoint" }),
      );
    }
  });

  it("decides what is signalled and frozen: a machine as a whole, and of one that has joined what is its own", () => {
    const own = inMachine(OWN);
    expect([own.signalAll, own.freeze, own.thaw]).toEqual([HOST.signalAll, HOST.freeze, HOST.thaw]);
    const joined = inMachine(JOINED);
    expect([joined.signalAll, joined.freeze, joined.thaw]).not.toContain(HOST.freeze);
    // None has joined what has no machine of its own.
    expect([own.dependents, joined.dependents].map((each) => each === HOST.dependents)).toEqual([false, true]);
  });
});

describe("an update in a machine", () => {
  const update = (machine: typeof OWN, resources: object, schemata: string[] = []) => {
    const staged: unknown[] = [];
    const change = () =>
      inMachine(machine).update({ ...RECORD, machine }, OWNER, { resources, schemata }, (warnings) => {
        staged.push(warnings);
        return () => {};
      });
    return { change, staged };
  };

  it.each<[string, typeof OWN, object, string[], string]>([
    ["has no resource control", OWN, {}, ["L3:0=f"], "a container in a machine cannot have resource control"],
    [
      "stays below what the machine has",
      OWN,
      { memory: { limit: 65n << 20n } },
      [],
      "a limit of 68157440 bytes: this machine has 64 MiB for its container, and does not grow",
    ],
  ])("%s, and then nothing is written", (_, machine, resources, schemata, message) => {
    const { change, staged } = update(machine, resources, schemata);
    expect(change).toThrow(message);
    expect(staged).toEqual([]);
  });
});
