/** What the helper has skipped or reduced by an operation's table of outcomes. */
import type * as host from "../host/index.ts";
import { capabilityList } from "../plan/index.ts";
import type { Execution } from "./execution.ts";

/** The helper knows numbers only. */
const MASK = /0x([0-9a-f]+)$/;

export function addHelperWarning({ asked: { plan }, made: { warnings, demanded } }: Execution, { op, text }: host.Message): void {
  if (plan.ops[op]?.op !== "capability.set") {
    warnings.push(text);
    return;
  }
  const named = text.replace(MASK, (mask) =>
    capabilityList(BigInt(mask))
      .split(",")
      .map((name) => (name.startsWith("0x") ? name : `CAP_${name}`))
      .join(", "),
  );
  warnings.push(named);
  demanded.push(named);
}
