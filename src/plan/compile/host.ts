import { addCgroup } from "./cgroups.ts";
import { notifyDirectory } from "./notify.ts";
import { addResctrlGroups } from "./resctrl.ts";
import type { Scope } from "./scope.ts";

/** The mode of exec.fifo: root writes, everybody may open it for writing only (runc uses the same). */
const FIFO_MODE = 0o622;

/** The runtime's work before the helper does anything: intent record, fifo, and the cgroup unless that can wait. */
export function addHostPreparation(scope: Scope): void {
  const { builder, host, invocation } = scope;
  builder.add("runtime", "host", "state.intent", { directory: host.stateDirectory });
  if (invocation.mode === "create") {
    builder.add("runtime", "host", "fifo.create", { path: fifoPath(host.stateDirectory), mode: FIFO_MODE, uid: 0, gid: 0 });
  }
  if (invocation.notifySocket !== undefined) {
    const listen = invocation.mode === "run";
    const directory = notifyDirectory(host.stateDirectory);
    builder.add("runtime", "host", "notify.prepare", { directory, listen, host: invocation.notifySocket });
  }
  addResctrlGroups(scope);
  if (!scope.joinsLate) addCgroup(scope);
  builder.add("runtime", "spawn", "helper.spawn", { cgroup: "" });
  if (scope.joinsLate && !isUnit(scope)) addCgroup(scope);
}

/** A unit needs init's pid (addUnit). */
function isUnit({ host }: Scope): boolean {
  return host.cgroup !== undefined && "unit" in host.cgroup.join;
}

const FIFO = "/exec.fifo";

export function fifoPath(stateDirectory: string): string {
  return stateDirectory + FIFO;
}
