/** Translates how a service is updated. Source: Compose specification, "update_config", "rollback_config". */
import type { TaskInput } from "../../engine/spec/index.ts";
import type { ServiceInput } from "./schema.ts";

type Changes = NonNullable<NonNullable<ServiceInput["deploy"]>["rollback_config"]>;

/** A service that says nothing of it is replaced as a whole. */
export function updateOf(
  { deploy }: ServiceInput,
  replica: NonNullable<TaskInput["replica"]>,
): Pick<TaskInput, "update" | "rollback" | "replica"> {
  const { update_config: update, rollback_config: rollback } = deploy ?? {};
  if (update === undefined && rollback === undefined) return {};
  const { failure_action: onFailure = "pause", "x-runt-drain": drain } = update ?? {};
  return {
    update: { ...paceOf(update ?? {}), onFailure, ...(drain === undefined ? {} : { drain }) },
    ...(rollback === undefined ? {} : { rollback: { ...paceOf(rollback), onFailure: rollback.failure_action ?? "pause" } }),
    replica,
  };
}

function paceOf({
  order = "stop-first",
  parallelism = 1,
  delay,
  monitor,
  max_failure_ratio: maxFailureRatio,
}: Omit<Changes, "failure_action">) {
  return {
    order,
    parallelism,
    ...(delay === undefined ? {} : { delay }),
    ...(monitor === undefined ? {} : { monitor }),
    ...(maxFailureRatio === undefined ? {} : { maxFailureRatio }),
  };
}
