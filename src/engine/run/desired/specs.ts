/** Parses a client's task file, and checks that this host can run its tasks. */
import { type HostSupport, refusedByHost } from "../../plan/index.ts";
import { type Finding, type ParsedFile, parseTasks, type TaskSpec } from "../../spec/index.ts";
import { invalidSpec } from "../errors.ts";
import type { Selection } from "./commands.ts";
import { keptVolumes } from "./kept.ts";

/** @param file the file's text, or the parsed file. @throws EngineError invalid-spec */
export function specsIn(file: string | ParsedFile, host: HostSupport): readonly TaskSpec[] {
  const { tasks, findings } = typeof file === "string" ? parseTasks(file) : file;
  const refused = tasks.flatMap((task, document) =>
    refusedByHost(task, host).map(
      (one): Finding => ({ code: "shape", document, line: 1, column: 1, ...one, message: `${task.name}: ${one.message}` }),
    ),
  );
  if (findings.length + refused.length > 0) throw invalidSpec([...findings, ...refused]);
  return tasks;
}

/** The tasks of a file as far as they are there, whether or not this host could run them. @throws EngineError invalid-spec */
export function selectionIn(file: string | ParsedFile): Exclude<Selection, "all"> {
  const { tasks, findings } = typeof file === "string" ? parseTasks(file) : file;
  if (findings.length > 0) throw invalidSpec(findings);
  return { names: tasks.map(({ name }) => name), mayBeMissing: true, volumes: tasks.flatMap((spec) => keptVolumes({ spec })) };
}
