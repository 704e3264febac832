/** A container is made from a compiled bundle; if anything fails, everything is undone. */
import { phase } from "../host/index.ts";
import { execute, newExecution } from "./execute.ts";
import type { Asked, Blueprint, Execution } from "./execution.ts";
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
  monitored?: NonNullable<Asked["monitored"]>,
): Execution {
  const progress = headStart.progress ?? showProgress();
  const execution = newExecution({ root, plan: blueprint.plan, blueprint, headStart, progress, ...(monitored && { monitored }) });
  if (blueprint.demanded.length > 0) execution.made.demanded.push(...blueprint.demanded);
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
