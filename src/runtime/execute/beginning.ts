/** What create and run begin with, when no more is known than that a container is to be made. */
import { separateDescriptors } from "../host/descriptors.ts";
import type { HelperAhead } from "./execution.ts";
import { startAhead } from "./head-start.ts";
import { onFailure } from "./on-failure.ts";
import { type Progress, showProgress } from "./progress.ts";

export interface Beginning {
  /** undefined: nothing is begun before the plan is known. */
  readonly progress?: Progress;
  /** Until the execution of a plan has it. */
  helper?: HelperAhead;
  /** Nothing comes of it. */
  end(): void;
}

/**
 * To be called before anything is opened.
 * @param ahead whether a helper may be started that waits for the configuration
 */
export function beginCreate(preserveFds: number, ahead: boolean): Beginning {
  separateDescriptors(preserveFds);
  const progress = ahead ? showProgress() : undefined;
  const helper = progress && startAhead(progress);
  const end = (): void => {
    if (beginning.helper) onFailure().endAhead(beginning.helper);
    delete beginning.helper;
  };
  const beginning: Beginning = { ...(progress && { progress }), ...(helper && { helper }), end };
  return beginning;
}
