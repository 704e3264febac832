import * as host from "../../host/index.ts";
import { separateDescriptors } from "../../host/index.ts";
import { disabled } from "../../testing/index.ts";
import type { EarlyHelper, HeadStart } from "../execution.ts";
import { type Progress, showProgress } from "../progress.ts";

/**
 * The first thing that is done for a new container: to be called before anything is opened.
 * @param starts whether a helper may be started before the plan is known
 */
export function begin(preserveFds: number, starts: boolean): HeadStart {
  separateDescriptors(preserveFds);
  if (!starts || disabled("head-start")) return { progress: undefined, helper: undefined };
  const progress = showProgress();
  return { progress, helper: startHelper(progress) };
}

/** undefined: there is no second processor for it, or it cannot be started so. */
function startHelper({ fd, page }: Progress): EarlyHelper | undefined {
  const pair: number[] = [];
  try {
    pair.push(...host.socketpair());
    const [socket = -1, theirs = -1] = pair;
    const pid = host.spawnHelperEarly(["plan", String(theirs), "early", String(fd)], [theirs, fd], page);
    host.close(theirs);
    if (pid !== undefined) return { pid, socket, page, namespaces: 0, clone: 0 };
    host.close(socket);
  } catch (error) {
    if (!(error instanceof Error && "errno" in error)) throw error;
    for (const end of pair) host.close(end);
  }
  return undefined;
}
