/** The calls on systemd's manager that the driver needs. Source: org.freedesktop.systemd1(5). */
import { RuntError } from "../../../errors/index.ts";
import { type Property, property } from "../compile/property.ts";
import { type Message, readBody } from "../wire/message.ts";
import type { Value, Variant } from "../wire/types.ts";
import { addMatch, BusError, type Connection } from "./connection.ts";

/** For a job of systemd's. */
const JOB_MS = 30_000;

const SERVICE = "org.freedesktop.systemd1";
const PATH = "/org/freedesktop/systemd1";
const MANAGER = `${SERVICE}.Manager`;

export interface Manager {
  /** 252. */
  version(): number;
  /** The manager's own cgroup; "" for the root. */
  controlGroup(): string;
  /** Properties of a unit, by name. */
  unitProperties(unit: string, names: readonly string[]): Property[];
  /** Start a transient unit and wait for its job. @throws UnitExists or RuntError cgroup */
  start(unit: string, properties: readonly Property[]): void;
  /** Stop a unit, wait, and let systemd forget that it failed. A unit that is not there is fine. @throws RuntError cgroup */
  stop(unit: string): void;
  setProperties(unit: string, properties: readonly Property[]): void;
  /** Move a process into the unit's cgroup, or the one at `path` ("/...") below it. */
  attach(unit: string, path: string, pid: number): void;
}

/** Somebody else's unit has the name. */
export class UnitExists extends RuntError {}

export function createManager(connection: Connection, direct: boolean): Manager {
  /** Unique name of systemd on the bus: nobody else's signals count. */
  let owner: string | undefined;

  function invoke(member: string, signature: string, values: readonly Value[], path = PATH, face = MANAGER): readonly Value[] {
    const reply = connection.call({
      ...(direct ? {} : { destination: SERVICE }),
      path,
      interface: face,
      member,
      ...(signature === "" ? {} : { signature, values }),
    });
    owner = reply.sender;
    return reply.values;
  }

  function getProperty(path: string, face: string, name: string): Variant {
    return invoke("Get", "ss", [face, name], path, "org.freedesktop.DBus.Properties")[0] as Variant;
  }

  /** A manager without a bus sends its signals to everybody. On a bus only those about the one unit are asked for. */
  function subscribe(unit: string): void {
    if (direct) return;
    addMatch(connection, `type='signal',sender='${SERVICE}',interface='${MANAGER}',member='JobRemoved',path='${PATH}',arg2='${unit}'`);
    try {
      invoke("Subscribe", "", []);
    } catch (error) {
      if (!isBusError(error, `${SERVICE}.AlreadySubscribed`)) throw error;
    }
  }

  /** How a job ended: "done", "failed", ... @throws RuntError cgroup after the time limit */
  function awaitJob(job: Value, call: string, unit: string): string {
    const ended = connection.awaitSignal((signal) => isEndOf(signal, job, owner), JOB_MS);
    if (ended === undefined) {
      throw new RuntError("cgroup", `timed out waiting for systemd to end ${call}(${unit}) after ${JOB_MS / 1000} s`);
    }
    return String(readBody(ended)[3]);
  }

  function forget(unit: string): void {
    try {
      invoke("ResetFailedUnit", "s", [unit]);
    } catch (error) {
      // It was not failed, or it is gone.
      if (!(error instanceof BusError)) throw error;
    }
  }

  function startOnce(unit: string, properties: readonly Property[]): Value {
    return invoke("StartTransientUnit", "ssa(sv)a(sa(sv))", [unit, "replace", pairs(properties), []])[0]!;
  }

  /** A unit of this name may be left over as failed: then it is forgotten, once. */
  function startOrRetry(unit: string, properties: readonly Property[]): Value {
    try {
      return startOnce(unit, properties);
    } catch (error) {
      if (!isBusError(error, `${SERVICE}.UnitExists`)) throw error;
      forget(unit);
    }
    try {
      return startOnce(unit, properties);
    } catch (error) {
      if (!isBusError(error, `${SERVICE}.UnitExists`)) throw error;
      throw new UnitExists("cgroup", `unable to start unit "${unit}": ${error.message}`, { cause: error });
    }
  }

  return {
    // "252.38-1~deb12u1", "v249.11".
    version: () => Number(/\d+/.exec(String(getProperty(PATH, MANAGER, "Version").value))?.[0] ?? 0),
    controlGroup: () => String(getProperty(PATH, MANAGER, "ControlGroup").value),

    unitProperties(unit, names) {
      const [path] = invoke("GetUnit", "s", [unit]);
      const face = `${SERVICE}.${unit.endsWith(".slice") ? "Slice" : "Scope"}`;
      return names.map((name) => ({ name, value: getProperty(path as string, face, name) }));
    },

    start(unit, properties) {
      subscribe(unit);
      const result = awaitJob(startOrRetry(unit, properties), "StartTransientUnit", unit);
      if (result === "done") return;
      forget(unit);
      throw new RuntError("cgroup", `error creating systemd unit \`${unit}\`: got \`${result}\``);
    },

    stop(unit) {
      subscribe(unit);
      try {
        awaitJob(invoke("StopUnit", "ss", [unit, "replace"])[0]!, "StopUnit", unit);
      } catch (error) {
        if (!isBusError(error, `${SERVICE}.NoSuchUnit`)) throw error;
      }
      forget(unit);
    },

    setProperties(unit, properties) {
      invoke("SetUnitProperties", "sba(sv)", [unit, true, pairs(properties)]);
    },

    attach(unit, path, pid) {
      invoke("AttachProcessesToUnit", "ssau", [unit, path, [pid]]);
    },
  };
}

export function processProperty(pid: number): Property {
  return property("PIDs", "au", [pid]);
}

function pairs(properties: readonly Property[]): Value {
  return properties.map(({ name, value }): Value => [name, value]);
}

/** JobRemoved(u id, o job, s unit, s result). */
function isEndOf(signal: Message, job: Value, owner: string | undefined): boolean {
  const { interface: face, member, sender, signature } = signal;
  return face === MANAGER && member === "JobRemoved" && sender === owner && signature === "uoss" && readBody(signal)[1] === job;
}

function isBusError(error: unknown, code: string): error is BusError {
  return error instanceof BusError && error.code === code;
}
