import { expect, test } from "vitest";
import { taskSchema } from "../spec/index.ts";
import { DEFAULT_OPTIONS } from "./host.ts";
import { newRecord, proxyEvent, reason, reconcile, renderReason, schedule, type TaskEvent, type TaskRecord } from "./index.ts";

const host = { options: DEFAULT_OPTIONS, peers: [], replaced: [], succeeded: [] };
const at = { bootId: "b", bootMs: 0, wallMs: 0 };
const CAPACITY = { cpus: 2, memoryBytes: 1000 };

function task(name: string, fields: object, revision = 1, memory = 1): TaskRecord {
  const spec = taskSchema.parse({ name, memory, ...fields, containers: [{ name: "c", rootfs: "/r", command: "x" }] });
  return newRecord({ id: `g.${name}.${revision}`, group: "g", spec, cgroup: null, at });
}
const proxy = (revision = 1) => task("mesh", { start: "needed" }, revision);
const user = (name: string) => task(name, { sharedProxy: "mesh" });

const send = (record: TaskRecord, event: TaskEvent) => reconcile(record, event, host).record;
const admitted = (record: TaskRecord) => send(record, { type: "admitted", at });
const ended = (record: TaskRecord, code: "NotNeeded" | "StoppedByUser" | "CheckFailed") => {
  const stopping = send(record, { type: "stop", at, reason: reason(code, `because of ${code}`) });
  return stopping.containers.reduce(
    (one, { name: container, generation }) => send(one, { type: "result", at, container, generation, target: "PULLED" }),
    stopping,
  );
};
const running = (record: TaskRecord): TaskRecord => ({ ...record, admission: "admitted", known: "RUNNING" });
/** "type name", and for one that waits why. */
const decided = (...records: TaskRecord[]) =>
  schedule(records, CAPACITY, { order: "fifo", tooLarge: "wait", portTaken: "wait" }, at).map(({ task: id, event }) =>
    [event.type, id.split(".")[1], ...(event.type === "waiting" ? event.missing : [])].join(" "),
  );
const happens = (record: TaskRecord, ...others: TaskRecord[]) => {
  const event = proxyEvent(record, [record, ...others], at);
  return event?.type === "stop" ? `stop: ${renderReason(event.reason)}` : event?.type;
};

test("E32 it waits for its first user, and users for it; neither holds back others", () => {
  expect(decided(proxy(), task("other", {}))).toEqual(["waiting mesh use: no task uses it", "admitted other"]);
  expect(decided(user("a"), proxy(), task("other", {}))).toEqual([
    "waiting a proxy: mesh does not work yet",
    "admitted mesh",
    "admitted other",
  ]);
  expect(decided(user("a"), running(proxy()))).toEqual(["admitted a"]);
  const elsewhere = { ...user("a"), group: "h" };
  expect(decided(proxy(), elsewhere)[0]).toBe("waiting mesh use: no task uses it");
});

test("E32 it is stopped when its last user has ended, not when that is being stopped", () => {
  const stopping = { ...running(user("a")), desired: "STOPPED" as const };
  expect(happens(running(proxy()), running(user("a")), ended(user("b"), "StoppedByUser"))).toBeUndefined();
  expect(happens(running(proxy()), stopping)).toBeUndefined();
  expect(happens(running(proxy()), ended(user("a"), "StoppedByUser"))).toBe("stop: no task uses it any more");
  expect(happens(proxy())).toBeUndefined();
});

test("E32 one that nobody needed waits for its next use; one that has failed only when its users have ended; one that a user has stopped does not", () => {
  const unneeded = ended(admitted(proxy()), "NotNeeded");
  expect(unneeded.known).toBe("STOPPED");
  for (const others of [[], [user("a")]]) expect(happens(unneeded, ...others)).toBe("renew");
  const failed = ended(admitted(proxy()), "CheckFailed");
  expect(happens(failed, running(user("a")))).toBeUndefined();
  expect(happens(failed, ended(user("a"), "StoppedByUser"))).toBe("renew");
  expect(happens(ended(admitted(proxy()), "StoppedByUser"))).toBeUndefined();
  const renewed = send(unneeded, { type: "renew", at });
  expect(renewed).toMatchObject({ desired: "RUNNING", known: "NONE", admission: "waiting", generation: 2, reason: null, cleanup: null });
  expect(renewed.containers[0]).toMatchObject({ generation: 2, known: "NONE", desired: "RUNNING" });
});

test("E32 a task is stopped with its proxy, and says why; not while another one takes its place, or when it is only not needed now", () => {
  expect(happens(user("a"))).toBe("stop: there is no shared proxy mesh");
  expect(happens(running(user("a")), ended(proxy(), "CheckFailed"))).toBe(
    "stop: the shared proxy mesh has stopped <- because of CheckFailed",
  );
  expect(happens(user("a"), ended(proxy(), "NotNeeded"))).toBeUndefined();
  const replaced = { ...ended(proxy(), "CheckFailed"), isDeleteAsked: true };
  expect(happens(running(user("a")), replaced, proxy(2))).toBeUndefined();
  expect(happens(running(user("a")), running(proxy()), ended(proxy(2), "CheckFailed"))).toBeUndefined();
  expect(happens(running(user("a")), { ...running(proxy()), isDeleteAsked: true })).toBe("stop: there is no shared proxy mesh");
});
