/** Errors of the engine: a stable code, and details for programs. */
import { type Finding, renderFinding } from "../spec/index.ts";

export type EngineErrorCode =
  /** An argument is of the wrong type. Nothing was changed. */
  | "invalid-argument"
  /** The task file has errors; `details.findings` lists all of them. Nothing was changed. */
  | "invalid-spec"
  /** There is no such task. */
  | "unknown-task"
  /** The task has no such container, or more than one and none was named; `details.containers` has their names. */
  | "unknown-container"
  /** The container does not run. */
  | "container-not-running"
  /** The container has neither `stdin` nor `tty`. */
  | "no-stdin"
  /** What the container prints is dropped (`log.driver: none`). */
  | "no-log"
  /** A running task would need more than is free on the host. Nothing was changed. */
  | "no-room"
  /** The task has stopped or is being stopped. */
  | "not-running"
  /** The interface was not announced, or its deadline has passed. */
  | "unknown-interface"
  /** A task has taken the interface. */
  | "interface-in-use"
  /** The image could not be pulled; `details.reason` is the code of the ImageError. */
  | "no-image"
  /** Images are being pulled or unpacked, so that none could be removed in time. */
  | "images-busy"
  /** The group has no such pool. */
  | "unknown-pool"
  /** The pool has no container now, because none can be made; `details.reason` is the code of the error. */
  | "pool-unavailable"
  /** The group has no such kept volume; when a file is applied, `details.volumes` has all that are missing, and nothing was changed. */
  | "unknown-volume"
  /** Tasks name the volume; `details.tasks` has their ids. */
  | "volume-in-use"
  /** Another file or project has made these tasks; `details.owner` is its path. Nothing was changed. */
  | "other-origin"
  /** No task is in this network of the whole host, which the file wants to be there; `details.networks` has all of them. Nothing was changed. */
  | "unknown-network"
  /** No task of the group is a replica of such a service. */
  | "unknown-service"
  /** The service has no such version; `details.known` has the numbers of those that it has. */
  | "unknown-revision"
  /** The service cannot have so many replicas. Nothing was changed. */
  | "not-scalable"
  /** The rollout of the service is in another state. */
  | "not-rolling"
  /** No other spec has run before under this name. */
  | "nothing-to-roll-back";

export class EngineError extends Error {
  override readonly name = "EngineError";
  readonly code: EngineErrorCode;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: EngineErrorCode, message: string, details: Readonly<Record<string, unknown>> = {}) {
    super(message);
    this.code = code;
    this.details = details;
  }
}

export function invalidSpec(findings: readonly Finding[]): EngineError {
  const [first] = findings;
  const what = first === undefined ? "" : `: ${renderFinding(first, "line")}`;
  const more = findings.length > 1 ? ` (and ${findings.length - 1} more)` : "";
  return new EngineError("invalid-spec", `the file has ${findings.length === 1 ? "an error" : "errors"}${what}${more}`, { findings });
}

/** Groups that one message names. */
const MOST_GROUPS = 3;

/** A task or a pool of some group. */
type Grouped = { readonly name: string; readonly group: string };

/** @param all tasks of every group: who forgets the group of a task is told which groups have one of that name */
export function unknownTask(name: string, group: string, all: Iterable<Grouped>): EngineError {
  return unknownOf("task", name, group, all);
}

/** @param all pools of every group, as for a task */
export function unknownPool(name: string, group: string, all: Iterable<Grouped>): EngineError {
  return unknownOf("pool", name, group, all);
}

function unknownOf(what: "task" | "pool", name: string, group: string, all: Iterable<Grouped>): EngineError {
  const groups = new Set<string>();
  for (const one of all) if (one.name === name && one.group !== group) groups.add(one.group);
  const named = [...groups].slice(0, MOST_GROUPS).map((one) => `-g ${one}`);
  const elsewhere = groups.size === 0 ? "" : `; there is one with ${named.join(", ")}${groups.size > MOST_GROUPS ? ", ..." : ""}`;
  return new EngineError(`unknown-${what}`, `there is no ${what} ${name} in group ${group}${elsewhere}`, {
    name,
    group,
    groups: [...groups],
  });
}

export function nothingToRestart(name: string): EngineError {
  return new EngineError("not-running", `task ${name} has a schedule and no containers: restart one of its runs`);
}

export function ofService(name: string, service: string): EngineError {
  const way = `return to an earlier version of the service with runtctl rollout undo ${service}`;
  return new EngineError("nothing-to-roll-back", `task ${name} is a replica of ${service}: ${way}`, { service });
}

export function notRunning(name: string, facts: Readonly<Record<string, unknown>>): EngineError {
  return new EngineError("not-running", `task ${name} has stopped or is being stopped: start it, or apply it again`, facts);
}

export function unknownService(name: string, group: string): EngineError {
  const why = "tasks without `update` have no rollouts";
  return new EngineError("unknown-service", `there is no service ${name} in group ${group}: ${why}`, { name, group });
}
