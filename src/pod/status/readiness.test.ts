import { expect, test } from "vitest";
import type { Readiness, TaskDetail, TaskView } from "../../engine/index.ts";
import { podReadiness } from "./readiness.ts";

const READY = { state: "ready", why: "" } as const;
const waits = (why: string): Readiness => ({ state: "waits", why });

/** A pod with one running container. @param readiness the engine's readiness of its task */
function asked(readiness: Readiness, health: "HEALTHY" | "UNHEALTHY" | null, { hasProbe = false, task = {} as Partial<TaskView> } = {}) {
  const probe = hasProbe ? { readinessProbe: { tcpSocket: { port: 1 } } } : {};
  const document = { apiVersion: "v1", kind: "Pod", metadata: { name: "p" }, spec: { containers: [{ name: "a", image: "i", ...probe }] } };
  const view = {
    ...{ known: "RUNNING", desired: "RUNNING", waiting: null, createdMs: 0, ...task },
    containers: [{ name: "a", type: "normal", known: "RUNNING", startedMs: 0 }],
  };
  const check = health && { status: health, sinceMs: null, failures: 0, output: null };
  const detail = {
    readiness,
    spec: { annotations: { "runt.dev/pod": JSON.stringify(document) } },
    containers: [{ name: "a", health: check }],
  };
  return podReadiness({ task: view as unknown as TaskView, detail: detail as unknown as TaskDetail });
}

test("a probe decides, and no health check of an image", () => {
  const unhealthy = waits("healthCheck of a is UNHEALTHY");
  expect(asked(unhealthy, "UNHEALTHY")).toEqual(READY);
  expect(asked(unhealthy, "UNHEALTHY", { hasProbe: true })).toEqual(waits("containers with unready status: [a]"));
  expect(asked(READY, "HEALTHY", { hasProbe: true })).toEqual(READY);
});

test("what has failed, is stopped or waits for room is what the engine says", () => {
  const failed = { state: "failed", why: "b has stopped" } as const;
  expect(asked(failed, null)).toEqual(failed);
  expect(asked(READY, null, { task: { known: "STOPPED", desired: "STOPPED" } })).toEqual(READY);
  const room = waits("2 CPUs");
  expect(asked(room, null, { task: { known: "NONE", waiting: ["2 CPUs"] } })).toEqual(room);
});

test("a task without a document is no pod", () => {
  const detail = { readiness: READY, spec: {}, containers: [] } as unknown as TaskDetail;
  expect(podReadiness({ task: {} as TaskView, detail })).toBeUndefined();
});
