import type { HeadStart } from "../execution.ts";
import { endHelper } from "../rollback.ts";

/** End the helper, and with it what it has made. Nothing to do once it has been adopted. */
export function cancel(headStart: HeadStart): void {
  const { helper } = headStart;
  headStart.helper = undefined;
  if (helper) endHelper(helper);
}
