/**
 * The head start: the helper is started before config.json is read. As soon as that is parsed the helper makes a new network namespace, and init where
 * nothing has to be done before it, while the runtime checks and compiles the configuration: the two take about equally long. The helper holds nothing
 * but itself and ends with this process, so nothing has been done to the host yet. Where it cannot be started early, or the plan wants another,
 * `helper.spawn` starts one.
 *
 * `begin` starts it, `hint` tells it what the parsed configuration will want, `adopt` gives it to the execution of the plan, `cancel` ends it.
 */

export type { HeadStart } from "../execution.ts";
export { adopt, begin, cancel } from "./adopt.ts";
export { hint } from "./hint.ts";
