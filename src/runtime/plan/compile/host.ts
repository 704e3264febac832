import { addCgroup } from "./cgroups.ts";
import { makeFifo } from "./fifo.ts";
import { notifyDirectory } from "./notify.ts";
import { addResctrlGroups } from "./resctrl.ts";
import type { Scope } from "./scope.ts";

/** The runtime's work on the host: intent record, fifo, the cgroup; then the helper. */
export function addHostPreparation(scope: Scope): void {
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
