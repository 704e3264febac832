import { describe, expect, it } from "vitest";
import type { ContainerView, TaskDetail, TaskView } from "../engine/index.ts";
import { readinessOf } from "./readiness.ts";

type Part = Partial<TaskDetail["containers"][number]>;

function task(fields: Partial<TaskView>, ...containers: Partial<ContainerView>[]): TaskView {
  const usual = { type: "normal", known: "RUNNING", exit: null, reason: null };
  return {
    ...{ known: "RUNNING", waiting: null, reason: null, ...fields },
    containers: containers.map((one, index) => ({ ...usual, name: `c${index}`, ...one })),
  } as unknown as TaskView;
}

function detail(reason: string | undefined, ...containers: Part[]): TaskDetail {
  const parts = containers.map((one, index) => ({ name: `c${index}`, reason: null, health: null, ...one }));
  const spec = { containers: [{ name: "c0" }, { name: "c1" }, { name: "c2", restart: { maximumCount: 3 } }] };
  return { reason: reason === undefined ? null : { code: reason }, spec, containers: parts } as unknown as TaskDetail;
}

const check = (status: "UNKNOWN" | "HEALTHY" | "UNHEALTHY") => ({ status, sinceMs: null, failures: 0, output: null });
const exit = (code: number) => ({ code }) as ContainerView["exit"];
const because = (code: string) => ({ reason: { code } }) as Part;

describe("readinessOf", () => {
  it.each<[string, TaskView, TaskDetail, string, string]>([
    ["runs", task({}, {}, {}), detail(undefined, {}, {}), "ready", ""],
    ["a migration has ended", task({}, { known: "STOPPED", exit: exit(0) }, {}), detail(undefined, {}, {}), "ready", ""],
    ["its namespaces are held", task({}, { type: "namespacePause", known: "CREATED" }, {}), detail(undefined, {}, {}), "ready", ""],
    [
      "it waits for room",
      task({ known: "NONE", waiting: ["2 CPUs", "port 80/tcp"] }, {}),
      detail(undefined, {}),
      "waits",
      "2 CPUs; port 80/tcp",
    ],
    ["not made yet", task({ known: "NONE" }, { known: "PULLED" }), detail(undefined, {}), "waits", "c0 is PULLED"],
    ["healthy", task({}, {}), detail(undefined, { health: check("HEALTHY"), liveness: check("UNKNOWN") }), "ready", ""],
    ["not healthy yet", task({}, {}), detail(undefined, { health: check("UNKNOWN") }), "waits", "healthCheck of c0 is UNKNOWN"],
    ["starting", task({}, {}), detail(undefined, { startup: check("UNHEALTHY") }), "waits", "startupCheck of c0 is UNHEALTHY"],
    [
      "one that nothing needs has failed",
      task({}, {}, { known: "STOPPED", exit: exit(3), reason: "exited with 3" }),
      detail(undefined, {}, {}),
      "failed",
      "c1 has stopped: exited with 3",
    ],
    [
      "one is between two starts",
      task({}, {}, {}, { known: "STOPPED", exit: exit(3), reason: "exited with 3" }),
      detail(undefined, {}, {}, {}),
      "waits",
      "c2 has stopped: exited with 3",
    ],
    ["succeeded", task({ known: "STOPPED" }, { known: "STOPPED", exit: exit(0) }), detail("EssentialContainerExited", {}), "ready", ""],
    [
      "succeeded, and took another one along",
      task({ known: "STOPPED" }, { exit: exit(0) }, { exit: exit(137) }),
      detail("EssentialContainerExited", {}, because("TaskStopped")),
      "ready",
      "",
    ],
    [
      "failed",
      task({ known: "STOPPED", reason: "c0 exited with 3" }, { exit: exit(3) }),
      detail("EssentialContainerExited", {}),
      "failed",
      "c0 exited with 3",
    ],
    [
      "stopped by somebody",
      task({ known: "STOPPED", reason: "stopped by a user" }, { exit: exit(0) }),
      detail("UserStopped", {}),
      "failed",
      "stopped by a user",
    ],
  ])("%s", (_, view, details, state, why) => expect(readinessOf(view, details)).toEqual({ state, why }));

  it("asks a pod's own condition, whatever the checks of its image say", () => {
    const conditions = (status: "True" | "False", message?: string) =>
      ({ conditions: [{ type: "Ready", status, ...(message && { message }) }] }) as never;
    const unhealthy = detail(undefined, { health: check("UNHEALTHY") });
    expect(readinessOf(task({}, {}), unhealthy, conditions("True")).state).toBe("ready");
    expect(readinessOf(task({}, {}), unhealthy, conditions("False", "containers with unready status: [a]"))).toEqual({
      state: "waits",
      why: "containers with unready status: [a]",
    });
  });

  it("a task that is gone has failed", () => expect(readinessOf(undefined, undefined)).toEqual({ state: "failed", why: "it was removed" }));
});
