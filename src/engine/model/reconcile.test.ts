import { expect, test } from "vitest";
import { parseTasks } from "../spec/index.ts";
import { DEFAULT_OPTIONS, newRecord, reconcile, renderReason, type TaskEvent, type TaskRecord } from "./index.ts";

const at = (bootMs: number) => ({ bootId: "b1", bootMs, wallMs: 1_000_000 + bootMs });
const host = { options: DEFAULT_OPTIONS, peers: [], replaced: [], succeeded: [] };

test("E87 two containers run, the essential one ends, and nothing is left", () => {
  const { tasks, findings } = parseTasks(`
name: web
containers:
  - { name: db, rootfs: /r, command: sleep }
  - { name: web, rootfs: /r, command: sleep, dependsOn: [{ container: db }] }
`);
  expect(findings).toEqual([]);
  let record: TaskRecord = newRecord({ id: "g.web.1", group: "g", spec: tasks[0]!, cgroup: "/runtd/g.t.1-0", at: at(0) });
  const log: string[] = [];
  const send = (event: TaskEvent) => {
    const { record: next, actions } = reconcile(record, event, host);
    record = next;
    for (const action of actions) {
      log.push(
        "container" in action ? `${action.type} ${action.container}` : "name" in action ? `${action.type} ${action.name}` : action.type,
      );
      if (action.type === "createResource") send({ at: at(1), type: "resource", name: action.name, target: "CREATED" });
      if (action.type === "removeResource") send({ at: at(9), type: "resource", name: action.name, target: "REMOVED" });
      const target = { pull: "PULLED", create: "CREATED", start: "RUNNING", stop: "STOPPED" }[action.type as "pull"];
      if (target !== undefined && "container" in action) {
        send({ at: at(2), type: "result", target: target as "PULLED", container: action.container, generation: action.generation });
      }
      if (action.type === "remove") send({ at: at(3), type: "removed", container: action.container, generation: action.generation });
    }
  };
  send({ at: at(1), type: "admitted" });
  expect(record.known).toBe("RUNNING");
  const exit = { code: 3, signal: null, oomKilled: false, unknown: false, endedWallMs: 5 };
  send({ at: at(5), type: "observed", container: "web", generation: 1, observation: { state: "exited", exit } });
  expect(record.known).toBe("STOPPED");
  expect(renderReason(record.reason!)).toBe("essential container web ended <- container web exited with 3");
  send({ at: at(6), type: "delete" });
  expect(log).toEqual([
    "createResource cgroup",
    "pull db",
    "create db",
    "start db",
    "pull web",
    "create web",
    "start web",
    "stop db",
    "remove db",
    "remove web",
    "removeResource cgroup",
    "forget",
  ]);
});
