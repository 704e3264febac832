import { expect, test } from "vitest";
import { parseTasks } from "../spec/index.ts";
import { DEFAULT_OPTIONS, newRecord, reconcile, renderReason, type TaskEvent } from "./index.ts";

const at = (bootMs: number) => ({ bootId: "b1", bootMs, wallMs: 1_000_000 + bootMs });
const host = { options: DEFAULT_OPTIONS, peers: [], replaced: [], succeeded: [] };
const exit = { code: 0, signal: null, oomKilled: false, unknown: false, endedWallMs: 5 };
const main = { container: "main", generation: 1 } as const;

/** A task whose one container runs. */
function running() {
  const [spec] = parseTasks("name: web\ncontainers: [{ name: main, rootfs: /r, command: sleep }]\n").tasks;
  let record = newRecord({ id: "g.web.1", group: "g", spec: spec!, cgroup: "/runtd/g.t.1-0", at: at(0) });
  const send = (event: TaskEvent) => {
    const next = reconcile(record, event, host);
    record = next.record;
    return next;
  };
  send({ at: at(1), type: "admitted" });
  send({ at: at(1), type: "resource", name: "cgroup", target: "CREATED" });
  for (const target of ["PULLED", "CREATED", "RUNNING"] as const) send({ at: at(2), type: "result", target, ...main });
  return send;
}

test.each([
  ["the result of the stop", { at: at(5), type: "result", target: "STOPPED", exit, ...main }],
  ["what is seen before the stop has a result", { at: at(5), type: "observed", observation: { state: "exited", exit }, ...main }],
  ["that the runtime does not know it", { at: at(5), type: "lookedUp", observation: { state: "absent" }, ...main }],
] as const)("a container that is stopped because its records are lost says so, whatever tells of its end: %s", (_, end) => {
  const send = running();
  const { record, actions } = send({ at: at(4), type: "lookedUp", observation: { state: "lost", message: "state.json is gone" }, ...main });
  expect(record.known).toBe("RUNNING");
  expect(actions.map(({ type }) => type)).toEqual(["stop"]);
  const ended = send(end).record;
  expect(ended.containers[0]).toMatchObject({ known: "STOPPED", lost: null });
  expect(renderReason(ended.containers[0]!.reason!)).toBe(
    "the records of container main were lost, and what was left of it was stopped: state.json is gone",
  );
});

const LOST = "the records of container main were lost, and what was left of it was stopped: state.json is gone";

test("a stop that has failed does not replace that the records are lost: it is told after it", () => {
  const send = running();
  send({ at: at(4), type: "lookedUp", observation: { state: "lost", message: "state.json is gone" }, ...main });
  const error = { message: "runt kill: it was ended by SIGKILL", isOutcomeUnknown: true };
  const tried = send({ at: at(5), type: "result", target: "STOPPED", error, ...main }).record.containers[0]!;
  expect([tried.reason, tried.stop.failures]).toEqual([null, 1]);
  const ended = send({ at: at(9), type: "lookedUp", observation: { state: "exited", exit }, ...main }).record.containers[0]!;
  expect(ended.reason).toEqual({ code: "RecordsLost", text: `${LOST}; before that it could not be stopped: ${error.message}` });
});

test("an exit that is seen later replaces only a reason that says that the exit is unknown", () => {
  const unseen = { ...exit, code: null, unknown: true } as const;
  const seen = { at: at(9), type: "observed", observation: { state: "exited", exit }, ...main } as const;
  const lost = running();
  lost({ at: at(4), type: "lookedUp", observation: { state: "lost", message: "state.json is gone" }, ...main });
  lost({ at: at(5), type: "result", target: "STOPPED", exit: unseen, ...main });
  expect(lost(seen).record.containers[0]).toMatchObject({ exit, reason: { code: "RecordsLost", text: LOST } });
  const unknown = running();
  unknown({ at: at(5), type: "observed", observation: { state: "exited", exit: unseen }, ...main });
  expect(unknown(seen).record.containers[0]).toMatchObject({ exit, reason: { code: "ContainerExited" } });
});
