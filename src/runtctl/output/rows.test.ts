import { expect, test } from "vitest";
import type { ContainerView, TaskView } from "../../engine/index.ts";
import { headerOf, rowsOf } from "./rows.ts";

const READY = headerOf({ isWide: false }).indexOf("READY");

function container(known: ContainerView["known"]): ContainerView {
  return {
    name: "app",
    type: "normal",
    id: "c-1",
    generation: 1,
    desired: "RUNNING",
    known,
    restarts: 0,
    startedMs: 1_000,
    stoppedMs: null,
    exit: null,
    lastRun: null,
    waitsForRestart: false,
    health: null,
    reason: null,
    updateError: null,
    image: null,
    agents: [],
    log: "/var/log/app",
  };
}

function readyOf(readiness: TaskView["readiness"], known: ContainerView["known"]): string | undefined {
  const task = { name: "job", group: "default", waiting: null, pulls: null, ports: [], readiness, containers: [container(known)] };
  return rowsOf(task as unknown as TaskView, { isWide: false, nowMs: 2_000 })[0]?.[READY];
}

test.each([
  ["ready", "RUNNING", "yes"],
  ["ready", "STOPPED", "-"],
  ["waits", "RUNNING", "no"],
  ["waits", "STOPPED", "no"],
  ["failed", "STOPPED", "failed"],
] as const)("of a task that %s, a container that is %s has %s below READY", (state, known, shown) => {
  expect(readyOf({ state, why: "" }, known)).toBe(shown);
});
