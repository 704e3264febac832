/**
 * ContainerConfig + host facts -> Plan. Pure: the same input gives the same plan, and nothing is touched.
 * The functions below append operations in the order in which things happen; see docs/architecture.md for the picture.
 */
import { PLAN_VERSION } from "../../../shared/protocol/index.ts";
import type { Plan } from "../plan.ts";
import { createBuilder } from "./builder.ts";
import { addLastJoin, addLateJoin, addUnit } from "./cgroups.ts";
import { addCommit, addEarlyReady, addReady } from "./commit.ts";
import type { CompileInput } from "./context.ts";
import { addDevices } from "./devices.ts";
import { addCreateHooks, addPoststartHooks } from "./hooks.ts";
import { addHostPreparation } from "./host.ts";
import { addMounts } from "./mounts.ts";
import { addClone, addIdentity, addOuterPreparation } from "./namespaces.ts";
import { withNotification } from "./notify.ts";
import { addPaths } from "./paths.ts";
import { addExecve, addProcess } from "./process.ts";
import { addFinalPropagation, addPivot, addRoot } from "./rootfs.ts";
import { createScope } from "./scope.ts";

export function compile(given: CompileInput): Plan {
  const input = withNotification(given);
  const builder = createBuilder();
  const scope = createScope(input, builder);
  addHostPreparation(scope);
  addOuterPreparation(scope);
  addClone(scope);
  addIdentity(scope);
  addUnit(scope);
  addRoot(scope);
  addMounts(scope);
  if (!scope.hasDevices) addDevices(scope);
  addLateJoin(scope);
  addCreateHooks(scope);
  addPivot(scope);
  addPaths(scope);
  addFinalPropagation(scope);
  addEarlyReady(scope);
  addLastJoin(scope);
  addProcess(scope);
  addReady(scope);
  addCommit(scope);
  addExecve(scope);
  addPoststartHooks(scope);
  return { version: PLAN_VERSION, id: input.invocation.id, slots: builder.slots, ops: builder.ops };
}
