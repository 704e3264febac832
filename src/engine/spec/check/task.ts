/** All checks of a single task. They need only its spec. Each check is in the file of its subject. */
import type { Problem } from "../finding.ts";
import type { TaskSpec } from "../schema/task.ts";
import { checkCombinations } from "./combinations.ts";
import { checkLimits } from "./limits.ts";
import { checkLogRouters } from "./log-router.ts";
import { checkMachine } from "./machine.ts";
import { checkNames } from "./names.ts";
import { checkNetwork } from "./network.ts";
import { checkSharedProxy } from "./shared-proxy.ts";
import { checkUsers } from "./users.ts";

/** @param machines names of the runtimes of the host that make virtual machines */
export function checkTask(spec: TaskSpec, machines: readonly string[] = []): Problem[] {
  return [
    ...checkNames(spec),
    ...checkCombinations(spec),
    ...checkNetwork(spec),
    ...checkLogRouters(spec),
    ...checkSharedProxy(spec),
    ...checkLimits(spec),
    ...checkUsers(spec),
    ...(spec.runtime !== undefined && machines.includes(spec.runtime) ? checkMachine(spec) : []),
  ];
}
