import { expect, test } from "vitest";
import { taskSchema } from "../spec/index.ts";
import { newRecord } from "./new-record.ts";
import { readinessOf } from "./readiness.ts";
import { type ReasonCode, reason } from "./reason.ts";
import type { ContainerRecord, HealthRecord, TaskRecord } from "./record.ts";

const at = { bootId: "b", bootMs: 0, wallMs: 0 };

/** A running task with these containers, c0 and up. */
function task(fields: Partial<TaskRecord>, ...containers: Partial<ContainerRecord>[]): TaskRecord {
  const spec = taskSchema.parse({ name: "t", containers: containers.map((_, at) => ({ name: `c${at}`, rootfs: "/r", command: "x" })) });
  const record = newRecord({ id: "g.t.1", group: "g", spec, cgroup: null, at });
  const running = { known: "RUNNING" } as const;
  return {
    ...{ ...record, ...running, waiting: null, ...fields },
    containers: record.containers.map((one, at) => ({ ...one, ...running, ...containers[at] })),
  };
}

const check = (status: HealthRecord["status"]): HealthRecord => ({ status, failures: 0, isChecking: false, nextCheck: null, output: "" });
const exit = (code: number) => ({ code, signal: null, oomKilled: false, unknown: false, endedWallMs: 0 });
const ended = (code: number) => ({ known: "STOPPED", exit: exit(code), reason: reason("ContainerExited", `exited with ${code}`) }) as const;
const over = (code: ReasonCode, text: string) => ({ known: "STOPPED", desired: "STOPPED", reason: reason(code, text) }) as const;

test.each<[string, TaskRecord, string, string]>([
  ["runs", task({}, {}, {}), "ready", ""],
  ["a migration has ended", task({}, ended(0), {}), "ready", ""],
  ["its namespaces are held", task({}, { type: "namespacePause", known: "CREATED" }, {}), "ready", ""],
  [
    "it waits for room",
    task({ known: "NONE", waiting: { since: at, missing: ["2 CPUs", "port 80/tcp"], overtaken: null } }, {}),
    "waits",
    "2 CPUs; port 80/tcp",
  ],
  ["not made yet", task({ known: "NONE" }, { known: "PULLED" }), "waits", "c0 is PULLED"],
  ["healthy", task({}, { health: check("HEALTHY"), liveness: check("UNKNOWN") }, {}), "ready", ""],
  ["not healthy yet", task({}, { health: check("UNKNOWN") }), "waits", "healthCheck of c0 is UNKNOWN"],
  ["starting", task({}, { startup: check("UNHEALTHY") }), "waits", "startupCheck of c0 is UNHEALTHY"],
  ["its hook runs", task({}, { postStart: check("UNKNOWN") }), "waits", "postStart of c0 is UNKNOWN"],
  ["one that nothing needs has failed", task({}, {}, ended(3)), "failed", "c1 has stopped: exited with 3"],
  [
    "one is between two starts",
    task({}, {}, { known: "PULLED", exit: exit(3), restartAt: { bootId: "b", bootMs: 1 } }),
    "waits",
    "c1 has ended, and is to start again",
  ],
  ["succeeded", task(over("EssentialContainerExited", "c0 ended"), ended(0)), "ready", ""],
  [
    "succeeded, and took another one along",
    task(over("EssentialContainerExited", "c0 ended"), ended(0), { ...ended(137), reason: reason("TaskStopped", "task stopped") }),
    "ready",
    "",
  ],
  ["failed", task(over("EssentialContainerExited", "c0 exited with 3"), ended(3)), "failed", "c0 exited with 3"],
  [
    "its hook has failed, and its program exits with 0 when it is stopped",
    task({}, {}, { ...ended(0), reason: reason("CheckFailed", "c1 has failed its postStart hook") }),
    "failed",
    "c1 has stopped: c1 has failed its postStart hook",
  ],
  [
    "it was stopped for a failed check, and exited with 0",
    task(over("EssentialContainerExited", "c0 ended"), { ...ended(0), reason: reason("CheckFailed", "c0 has failed its startup check") }),
    "failed",
    "c0 ended",
  ],
  ["stopped by somebody", task(over("StoppedByUser", "stopped by a user"), ended(0)), "failed", "stopped by a user"],
  [
    "has done its work, and another one ends because of that",
    task({ desired: "STOPPED", reason: reason("EssentialContainerExited", "c0 ended") }, ended(0), {}),
    "waits",
    "it is being stopped",
  ],
])("%s", (_, record, state, why) => expect(readinessOf(record)).toEqual({ state, why }));
