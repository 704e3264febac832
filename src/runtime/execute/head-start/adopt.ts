import { CLONE_NEW } from "../../../shared/linux/index.ts";
import { MESSAGES, type OpArgs, type OpName } from "../../../shared/protocol/index.ts";
import * as host from "../../host/index.ts";
import { separateDescriptors } from "../../host/index.ts";
import type { Plan } from "../../plan/index.ts";
import { disabled } from "../../testing/index.ts";
import type { EarlyHelper, HeadStart } from "../execution.ts";
import { type Progress, showProgress } from "../progress.ts";
import { endHelper } from "../rollback.ts";

/** What a helper gets beside its operations. */
export interface Handover {
  /** Descriptor of the packed plan. */
  readonly plan: number;
  /** The cgroup it must be started in; "": the runtime's. */
  readonly cgroup: string;
  /** It needs the runtime's environment. */
  readonly environment: boolean;
}

/** Give the helper its plan: it is the caller's from now on. undefined: the plan needs another helper, and this one is gone. */
export function adopt(headStart: HeadStart, { ops }: Plan, { plan, cgroup, environment }: Handover): EarlyHelper | undefined {
  const { helper } = headStart;
  if (helper === undefined) return undefined;
  if (host.helperEarlyRuns(helper.page) && cgroup === "" && !environment && fits(helper, ops)) {
    try {
      host.sendMessage(helper.socket, MESSAGES.plan, plan, helper.page);
      headStart.helper = undefined;
      return helper;
    } catch (error) {
      if (!host.isErrno(error, "EPIPE", "ECONNRESET")) throw error;
    }
  }
  cancel(headStart);
  return undefined;
}

/** Whether the plan asks for exactly what the helper was told to make. */
function fits({ namespaces, clone }: EarlyHelper, ops: Plan["ops"]): boolean {
  const planned = ops[host.findNext(ops, "op", "process.clone", 0)];
  const flags = planned ? (planned.args as OpArgs<"process.clone">).flags : 0;
  if (clone !== 0) return clone === flags && onlyClones(ops, false);
  // What the intermediate does beside the clone is meant for the namespaces that it was started in.
  return (namespaces & ~flags) === 0 && ((namespaces & ~CLONE_NEW.network) === 0 || onlyClones(ops, true));
}

/** What gives the same in the namespaces of the init to come as in those of the helper. */
const BEFORE_BIRTH: ReadonlySet<OpName> = new Set(["proc.open", "mask.open", "capability.bounding", "sync.wait", "cgroup.openDirectory"]);

/** `born`: init is cloned into its cgroup. */
function onlyClones(ops: Plan["ops"], born: boolean): boolean {
  let at = host.findNext(ops, "actor", "intermediate", 0);
  while (born && at >= 0 && BEFORE_BIRTH.has(ops[at]!.op)) at = host.findNext(ops, "actor", "intermediate", at + 1);
  return ops[at]?.op === "process.clone" && host.findNext(ops, "actor", "intermediate", at + 1) < 0;
}

/** End the helper, and with it what it has made. Nothing to do once it has been adopted. */
export function cancel(headStart: HeadStart): void {
  const { helper } = headStart;
  headStart.helper = undefined;
  if (helper) endHelper(helper);
}

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
