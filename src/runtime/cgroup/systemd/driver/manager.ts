/** The calls on systemd's manager that the driver needs. Source: org.freedesktop.systemd1(5). */
import { RuntError } from "../../../errors/index.ts";
import { type Property, property } from "../compile/property.ts";
import { type Message, readBody } from "../wire/message.ts";
import type { Value, Variant } from "../wire/types.ts";
import { addMatch, BusError, type Call, type Connection, type Reply } from "./connection.ts";

/** For a job of systemd's. */
const JOB_MS = 30_000;

const SERVICE = "org.freedesktop.systemd1";
const PATH = "/org/freedesktop/systemd1";
const MANAGER = `${SERVICE}.Manager`;

export interface Manager {
  /** `version`: 252. `root`: the manager's own cgroup, "" for the root. */
  facts(): { readonly version: number; readonly root: string };
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

/** A unit of somebody else has this name. */
export class UnitExists extends RuntError {}

export function createManager(connection: Connection, direct: boolean): Manager {
  /** Unique name of systemd on the bus: nobody else's signals count. */
  let owner: string | undefined;

  function request(member: string, signature: string, values: readonly Value[], path = PATH, face = MANAGER): Call {
    return {
      ...(direct ? {} : { destination: SERVICE }),
      path,
      interface: face,
      member,
      ...(signature === "" ? {} : { signature, values }),
    };
  }

  function valuesOf(answer: Reply | BusError): readonly Value[] {
    if (answer instanceof BusError) throw answer;
    owner = answer.sender;
    return answer.values;
  }

  function invoke(member: string, signature: string, values: readonly Value[]): readonly Value[] {
    return valuesOf(connection.call(request(member, signature, values)));
  }

  function getProperties(path: string, face: string, names: readonly string[]): Variant[] {
    const calls = names.map((name) => request("Get", "ss", [face, name], path, "org.freedesktop.DBus.Properties"));
    return connection.callAll(calls).map((answer) => valuesOf(answer)[0] as Variant);
  }

  /**
   * Make a call that has a job for an answer. On a bus the end of that has to be asked for: systemd sends it where somebody is who has caused the job,
   * so there is no need to subscribe to all that it does. `after`: calls whose answers do not count.
   */
  function startJob(unit: string, call: Call, ...after: readonly Call[]): Value {
    const rule = `type='signal',sender='${SERVICE}',interface='${MANAGER}',member='JobRemoved',path='${PATH}',arg2='${unit}'`;
    const before = direct ? [] : [addMatch(rule)];
    const answers = connection.callAll([...before, call, ...after]);
    for (const answer of answers.slice(0, before.length)) if (answer instanceof BusError) throw answer;
    return valuesOf(answers[before.length]!)[0]!;
  }

  /** How a job ended: "done", "failed", ... @throws RuntError cgroup after the time limit */
  function awaitJob(job: Value, call: string, unit: string): string {
    const ended = connection.awaitSignal((signal) => isEndOf(signal, job, owner), JOB_MS);
    if (ended === undefined) {
      throw new RuntError("cgroup", `timed out waiting for systemd to end ${call}(${unit}) after ${JOB_MS / 1000} s`);
    }
    return String(readBody(ended)[3]);
  }

  function forgetting(unit: string): Call {
    return request("ResetFailedUnit", "s", [unit]);
  }

  function forget(unit: string): void {
    try {
      valuesOf(connection.call(forgetting(unit)));
    } catch (error) {
      // It was not failed, or it is gone.
      if (!(error instanceof BusError)) throw error;
    }
  }

  function startOnce(unit: string, properties: readonly Property[]): Value {
    return startJob(unit, request("StartTransientUnit", "ssa(sv)a(sa(sv))", [unit, "replace", pairs(properties), []]));
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
    facts() {
      const [version, root] = getProperties(PATH, MANAGER, ["Version", "ControlGroup"]);
      // "252.38-1~deb12u1", "v249.11".
      return { version: Number(/\d+/.exec(String(version?.value))?.[0] ?? 0), root: String(root?.value) };
    },

    unitProperties(unit, names) {
      const [path] = invoke("GetUnit", "s", [unit]);
      const face = `${SERVICE}.${unit.endsWith(".slice") ? "Slice" : "Scope"}`;
      return getProperties(path as string, face, names).map((value, index) => ({ name: names[index]!, value }));
    },

    start(unit, properties) {
      const result = awaitJob(startOrRetry(unit, properties), "StartTransientUnit", unit);
      if (result === "done") return;
      forget(unit);
      throw new RuntError("cgroup", `error creating systemd unit \`${unit}\`: got \`${result}\``);
    },

    stop(unit) {
      try {
        // Both at once, so that there is one answer to wait for: a unit that has failed is forgotten before it is stopped.
        const job = startJob(unit, request("StopUnit", "ss", [unit, "replace"]), forgetting(unit));
        if (awaitJob(job, "StopUnit", unit) !== "done") forget(unit);
      } catch (error) {
        if (!isBusError(error, `${SERVICE}.NoSuchUnit`)) throw error;
      }
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
