/** Parses a client's task file, and checks that this host can run its tasks. */
import { type HostSupport, refusedByHost } from "../../plan/index.ts";
import {
  type Finding,
  type ParsedFile,
  type PoolInput,
  type PoolSpec,
  parseTasks,
  type TaskInput,
  type TaskSpec,
} from "../../spec/index.ts";
import { EngineError, invalidSpec } from "../errors.ts";
import { ownVolumes } from "./kept.ts";
import type { Origin } from "./origin.ts";
import type { Selection } from "./selection.ts";

/** A task file: its text, the parsed file, or its tasks and pools as objects. */
export type TaskFile = string | ParsedFile | TaskInput | PoolInput | readonly (TaskInput | PoolInput)[];

export interface Specs {
  readonly tasks: readonly TaskSpec[];
  readonly pools: readonly PoolSpec[];
}

/** @throws EngineError invalid-argument: it is nothing of that */
function parsed(file: TaskFile): ParsedFile {
  if (typeof file === "string") return parseTasks(file);
  if (typeof file !== "object" || file === null)
    throw new EngineError("invalid-argument", `a task file is a text or an object, and this is ${file === null ? "null" : typeof file}`);
  if (isParsed(file)) return file;
  const tasks: readonly unknown[] = Array.isArray(file) ? file : [file];
  return parseTasks(tasks.map((task) => JSON.stringify(task)).join("\n---\n"));
}

function isParsed(file: object): file is ParsedFile {
  return "findings" in file && Array.isArray(file.findings) && "tasks" in file && Array.isArray(file.tasks);
}

/** @throws EngineError invalid-spec, invalid-argument */
export function specsIn(file: TaskFile, host: HostSupport): Specs {
  const { tasks, pools = [], findings } = parsed(file);
  const refused = tasks.flatMap((task, document) =>
    refusedByHost(task, host).map(
      (one): Finding => ({ code: "shape", document, line: 1, column: 1, ...one, message: `${task.name}: ${one.message}` }),
    ),
  );
  if (findings.length + refused.length > 0) throw invalidSpec([...findings, ...refused]);
  return { tasks, pools };
}

/** The tasks of a file as far as they are there, whether or not this host could run them. @throws EngineError invalid-spec, invalid-argument */
export function selectionIn(file: TaskFile, origin: Origin = {}): Exclude<Selection, "all"> {
  const { tasks, pools = [], findings } = parsed(file);
  if (findings.length > 0) throw invalidSpec(findings);
  const names = tasks.map(({ name }) => name);
  const volumes = tasks.flatMap((spec) => ownVolumes({ spec }));
  return { names, mayBeMissing: true, pools: pools.map(({ name }) => name), volumes, origin };
}
