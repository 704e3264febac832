/**
 * ContainerConfig + host facts -> Plan. Pure: the same input gives the same plan, and nothing is touched.
 * The functions below append operations in their natural order, part by part; the schedule moves parts for which there is a better time.
 */
import { PLAN_VERSION } from "../../../shared/protocol/index.ts";
import type { CompileInput } from "../input.ts";
import type { Plan } from "../plan.ts";
import { scheduleOf } from "../schedule.ts";
import { createBuilder } from "./builder.ts";
import { addCgroup, addResctrlGroups, addUnit } from "./cgroups.ts";
import { addCommit, addReady } from "./commit.ts";
import { addDevices } from "./devices.ts";
import { makeFifo } from "./fifo.ts";
import { addCreateHooks, addPoststartHooks } from "./hooks.ts";
import { addMounts } from "./mounts.ts";
import { addClone, addIdentity, addIntermediatePreparation } from "./namespaces.ts";
import { notifyDirectory, withNotification } from "./notify.ts";
import { addExecve, addProcess } from "./process.ts";
import { addFinalPropagation, addPaths, addPivot, addRoot } from "./rootfs.ts";
import { createScope, type Scope } from "./scope.ts";
import { loadsEarly } from "./seccomp.ts";

/** natural: nothing is moved. That plan is right as well, and slower. */
export function compile(given: CompileInput, order: "scheduled" | "natural" = "scheduled"): Plan {
  const input = withNotification(given);
  const builder = createBuilder(order === "natural" ? undefined : scheduleOf(input));
  const scope = createScope(input, builder);
  addHostPreparation(scope);
  addIntermediatePreparation(scope);
  addClone(scope);
  addIdentity(scope);
  addUnit(scope);
  addRoot(scope);
  addMounts(scope);
  addDevices(scope);
  addCreateHooks(scope);
  addPivot(scope);
  addPaths(scope);
  addFinalPropagation(scope);
  addProcess(scope);
  addReady(scope);
  addCommit(scope);
  addExecve(scope, loadsEarly(scope));
  addPoststartHooks(scope);
  return { version: PLAN_VERSION, id: input.invocation.id, slots: builder.slots, ops: builder.ops };
}

/** The runtime's work on the host: intent record, fifo, the cgroup; then the helper. */
function addHostPreparation(scope: Scope): void {
  const { builder, host, invocation } = scope;
  builder.begin("host");
  builder.add("runtime", "host", "state.intent", { directory: host.stateDirectory });
  makeFifo(scope);
  if (invocation.notifySocket !== undefined) {
    const listen = invocation.mode === "run";
    const directory = notifyDirectory(host.stateDirectory);
    builder.add("runtime", "host", "notify.prepare", { directory, listen, host: invocation.notifySocket });
  }
  if (scope.bindsRoot) builder.add("runtime", "host", "root.bind", { path: scope.config.rootfs }, "/root/path");
  addResctrlGroups(scope);
  if (!isUnit(scope)) addCgroup(scope);
  builder.begin("spawn");
  builder.add("runtime", "spawn", "helper.spawn", { cgroup: "" });
}

/** A unit needs init's pid (addUnit). */
function isUnit({ host }: Scope): boolean {
  return host.cgroup !== undefined && "unit" in host.cgroup.join;
}
