/** A systemd that knows transient units and nothing else: it makes their cgroups in its own hierarchy and moves processes into them. */
import { existsSync, mkdirSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Value, Variant } from "../../src/runtime/cgroup/systemd/wire/types.ts";
import type { Outgoing, Received } from "./bus-outgoing.ts";
import type { Answer } from "./bus-service.ts";

const INTERFACE = "org.freedesktop.systemd1";

export interface FakeSystemd {
  readonly answer: Answer;
  /** "Member unit" of every call that is about a unit, in order. */
  readonly calls: readonly string[];
  /** Properties of an existing unit. */
  unit(name: string): Readonly<Record<string, Variant>> | undefined;
  /** The cgroup of a unit, in the manager's own hierarchy. */
  directory(name: string): string;
  /** As somebody else may do it. */
  stop(name: string): void;
  /** Outcomes of the next starts instead: a job's result, "never" for a job that does not end, or a unit of somebody else's. */
  failStart(...how: readonly string[]): void;
  /** Remove the cgroups of the manager itself; those of units must be gone. */
  clear(): void;
}

/** `hierarchy`: mount point of systemd's own one. `root`: the manager's cgroup in it. */
export function fakeSystemd(hierarchy: string, root: string): FakeSystemd {
  const units = new Map<string, Record<string, Variant>>();
  const calls: string[] = [];
  let failures: readonly string[] = [];
  let jobs = 0;

  const directory = (name: string) => join(hierarchy, root, "system.slice", name);
  const variant = (signature: string, value: Value): readonly Outgoing[] => [{ reply: [{ signature, value }], signature: "v" }];
  const error = (name: string): readonly Outgoing[] => [{ error: `${INTERFACE}.${name}`, text: `fake: ${name}` }];
  const ended = (unit: string, result: string): readonly Outgoing[] => {
    const job = `/org/freedesktop/systemd1/job/${++jobs}`;
    const removed: Outgoing = { signal: "JobRemoved", signature: "uoss", values: [jobs, job, unit, result] };
    return [{ reply: [job], signature: "o" }, ...(result === "never" ? [] : [removed])];
  };

  function start(name: string, properties: readonly (readonly [string, Variant])[]): readonly Outgoing[] {
    const [failure, ...rest] = failures;
    failures = rest;
    if (failure === "exists" || units.has(name)) return error("UnitExists");
    if (failure !== undefined && failure !== "never") return ended(name, failure);
    units.set(name, Object.fromEntries(properties));
    mkdirSync(directory(name), { recursive: true });
    for (const pid of (units.get(name)?.["PIDs"]?.value ?? []) as number[])
      writeFileSync(join(directory(name), "cgroup.procs"), String(pid));
    return ended(name, failure ?? "done");
  }

  function stop(name: string): readonly Outgoing[] {
    if (!units.delete(name)) return error("NoSuchUnit");
    rmdirSync(directory(name));
    return ended(name, "done");
  }

  function get([face, name]: readonly string[], path: string): readonly Outgoing[] {
    if (face === `${INTERFACE}.Manager`) return variant("s", name === "Version" ? "252.fake" : root);
    const unit = units.get(Buffer.from(path.slice(path.lastIndexOf("/") + 2), "hex").toString());
    const found = unit?.[name ?? ""];
    return found ? [{ reply: [found], signature: "v" }] : variant("t", (1n << 64n) - 1n);
  }

  return {
    calls,
    unit: (name) => units.get(name),
    directory,
    stop,
    failStart: (...how) => {
      failures = how;
    },
    clear() {
      for (const path of [directory(""), join(hierarchy, root)]) if (existsSync(path)) rmdirSync(path);
    },
    answer({ member, values, message }: Received) {
      const [first = "", , third] = values as readonly string[];
      if (member === "Get") return get(values as readonly string[], message.path ?? "");
      if (member === "GetUnit") return [{ reply: [`/unit/_${Buffer.from(first).toString("hex")}`], signature: "o" }];
      calls.push(`${member} ${first}`);
      if (member === "StartTransientUnit") return start(first, third as unknown as readonly (readonly [string, Variant])[]);
      if (member === "StopUnit") return stop(first);
      if (member === "ResetFailedUnit") return error("NoSuchUnit");
      if (member !== "SetUnitProperties") return error("UnknownMethod");
      Object.assign(units.get(first) ?? {}, Object.fromEntries(values[2] as unknown as readonly (readonly [string, Variant])[]));
      return [{ reply: [] }];
    },
  };
}
