/** A container is made from a compiled bundle; if anything fails, everything is undone. */
import { phase } from "../host/index.ts";
import { execute, newExecution } from "./execute.ts";
import type { Blueprint, Execution } from "./execution.ts";
import { cancel, type HeadStart } from "./head-start/index.ts";
import { showProgress } from "./progress.ts";
import { rollbackError } from "./rollback.ts";

/**
 * @param headStart is adopted or ended
 * @param monitored this process is to become the container's monitor
 * @throws RuntError; then nothing is left
 */
export function newContainer(
  root: string,
  blueprint: Blueprint,
  headStart: HeadStart,
  monitored?: NonNullable<Execution["monitored"]>,
): Execution {
  const execution = newExecution(root, blueprint.plan);
  execution.blueprint = blueprint;
  execution.headStart = headStart;
  execution.progress = headStart.progress ?? showProgress();
  if (monitored) execution.monitored = monitored;
  if (blueprint.demanded.length > 0) execution.demanded.push(...blueprint.demanded);
  phase?.("execute", "execute");
  try {
    execute(execution);
  } catch (error) {
    phase?.("undo", "execute");
    cancel(headStart);
    throw rollbackError(execution, blueprint.id, error);
  }
  return execution;
}
