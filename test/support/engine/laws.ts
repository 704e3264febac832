/** What must hold after every decision, told by the world and not by the record. */
import { expect } from "vitest";
import {
  CONTAINER_STATUSES,
  type ContainerRecord,
  type Reconciled,
  specOf,
  TASK_STATUSES,
  type TaskRecord,
} from "../../../src/engine/model/index.ts";
import type { World } from "./world.ts";

/** They do not move the container: they may be in flight beside what does. */
const IS_BESIDE: ReadonlySet<string> = new Set(["checkHealth", "remove", "update"]);

export function checkLaws(before: TaskRecord, { record, actions }: Reconciled, world: World, events: number): void {
  for (const container of record.containers) {
    const was = before.containers.find(({ name }) => name === container.name)!;
    checkOrder(was, container);
    if (container.known === "STOPPED") expect(world.isAlive(container.runtimeId), `${container.name} is STOPPED and lives`).toBe(false);
    checkExit(container, world);
  }
  if (before.generation === record.generation) {
    expect(TASK_STATUSES.indexOf(record.known)).toBeGreaterThanOrEqual(TASK_STATUSES.indexOf(before.known));
    if (before.desired === "STOPPED") expect(record.desired).toBe("STOPPED");
  }
  const reference = referenceStatus(before.generation === record.generation ? before.known : "NONE", record);
  // Of several events the first may have moved it, and the next held it there.
  if (events === 1) expect(record.known).toBe(reference);
  else expect(TASK_STATUSES.indexOf(record.known)).toBeGreaterThanOrEqual(TASK_STATUSES.indexOf(reference));
  for (const action of actions) {
    if (!("runtimeId" in action)) continue;
    const life = world.incarnations.get(action.runtimeId)?.life;
    if (action.type === "create") expect(life, `${action.runtimeId} is created twice`).toBeUndefined();
    if (action.type === "create" || action.type === "start") checkConditions(record, action.container, world);
    if (action.type === "stop" && record.desired === "STOPPED") checkStopOrder(record, action.container, world);
    expect(
      world.pending.filter(
        (one) =>
          "container" in one &&
          one.type !== "checkHealth" &&
          one.type !== "remove" &&
          one.type !== "update" &&
          one.container === action.container &&
          one.generation === action.generation,
      ).length,
    ).toBeLessThanOrEqual(IS_BESIDE.has(action.type) ? 1 : 0);
  }
}

/** Generation and status only go up, the generation first; what is wanted goes to STOPPED only, but for a new generation. */
function checkOrder(was: ContainerRecord, now: ContainerRecord): void {
  expect(now.generation).toBeGreaterThanOrEqual(was.generation);
  if (now.generation > was.generation) return;
  expect(CONTAINER_STATUSES.indexOf(now.known)).toBeGreaterThanOrEqual(CONTAINER_STATUSES.indexOf(was.known));
  if (was.desired === "STOPPED") expect(now.desired).toBe("STOPPED");
}

/** An exit code is one that the world has given: never made up, and none for what never ran. */
function checkExit({ runtimeId, known, exit, generation, name }: ContainerRecord, world: World): void {
  if (exit === null || exit.unknown) {
    if (exit !== null) expect(exit.code).toBeNull();
    return;
  }
  const given = world.incarnations.get(runtimeId)?.exit;
  if (known === "STOPPED" && given !== undefined) expect(exit.code, `${name}.${generation}`).toBe(given.code);
}

/** The reference: the least of all containers, held while an essential one has ended and others have not. */
function referenceStatus(was: TaskRecord["known"], { containers }: TaskRecord): TaskRecord["known"] {
  const rank = (one: ContainerRecord) => (one.known === "STOPPED" ? 3 : one.known === "RUNNING" ? 2 : one.known === "CREATED" ? 1 : 0);
  const ranks = containers.map(rank);
  if (ranks.every((one) => one === 3)) return "STOPPED";
  if (containers.some((one) => one.essential && one.known === "STOPPED")) return was;
  return TASK_STATUSES[Math.max(Math.min(...ranks), TASK_STATUSES.indexOf(was))]!;
}

function checkConditions(record: TaskRecord, name: string, world: World): void {
  for (const { container, condition } of specOf(record, name)?.dependsOn ?? []) {
    const target = record.containers.find((one) => one.name === container)!;
    const life = world.incarnations.get(target.runtimeId)?.life;
    if (condition === "SUCCESS") {
      expect(world.isAlive(target.runtimeId)).toBe(false);
      expect(target.exit?.code).toBe(0);
    }
    if (condition === "COMPLETE") expect(world.isAlive(target.runtimeId)).toBe(false);
    // Once is enough: it may be starting again.
    if (condition === "START" && target.generation === 1) expect(world.started.has(target.runtimeId) || life === undefined).toBe(true);
  }
}

/** None that depends on it, also through others, is alive. */
function checkStopOrder(record: TaskRecord, name: string, world: World, seen = new Set([name])): void {
  for (const dependent of record.containers) {
    const dependsOn = specOf(record, dependent.name)?.dependsOn ?? [];
    if (seen.has(dependent.name) || !dependsOn.some(({ container }) => container === name)) continue;
    seen.add(dependent.name);
    if (dependent.stop.failures < 5) expect(world.isAlive(dependent.runtimeId), `${name} is stopped before ${dependent.name}`).toBe(false);
    checkStopOrder(record, dependent.name, world, seen);
  }
}
