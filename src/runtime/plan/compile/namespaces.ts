/** From the helper's start to the moment init stands in all its namespaces with its identity. */
import { CLONE_NEW, SIGNALS } from "../../../shared/linux/index.ts";
import { MESSAGES, NO_SLOT } from "../../../shared/protocol/index.ts";
import type { NamespaceConfig, NamespaceType } from "../../config/index.ts";
import { birthplace } from "../input.ts";
import { addCgroupNamespace, addJoin, addOwnJoin, addRendezvous, addResctrlJoin, addTasksFiles, awaitBirthplace } from "./cgroups.ts";
import { openFifo } from "./fifo.ts";
import { addStartReport } from "./hooks.ts";
import { addIdMaps } from "./id-maps.ts";
import { addKeyring, needsProcForLabels } from "./labels.ts";
import type { Scope } from "./scope.ts";
import { openSources } from "./sources.ts";

/** With rights on the host, everything owned by the host is joined before the user namespace takes the rights away. */
const JOIN_ORDER_PRIVILEGED: readonly NamespaceType[] = ["ipc", "uts", "network", "cgroup", "time", "pid", "mount", "user"];
/** Without them, the user namespace is what gives the right to join the others. */
const JOIN_ORDER_ROOTLESS: readonly NamespaceType[] = ["user", "ipc", "uts", "network", "cgroup", "time", "pid", "mount"];

export function addIntermediatePreparation(scope: Scope): void {
  const { builder, invocation } = scope;
  builder.begin("hostFiles");
  openHostFiles(scope);
  builder.begin("fifo");
  openFifo(scope);
  builder.begin("clone");
  if (invocation.consoleSocket !== undefined) {
    builder.add("intermediate", "namespaces", "console.connect", { path: invocation.consoleSocket }, "/process/terminal");
  }
  addStartReport(scope);
  openSources(scope);
}

/** What of the host the root is put together with. */
function openHostFiles(scope: Scope): void {
  const { builder, config, host } = scope;
  if (config.sysctl.length > 0 || needsProcForLabels(scope)) builder.add("intermediate", "namespaces", "proc.open", {});
  if (config.maskedPaths.length > 0 && !host.rootless) builder.add("intermediate", "namespaces", "mask.open", {});
}

export function addClone(scope: Scope): void {
  const { builder, config, host } = scope;
  const join = host.cgroup?.join;
  const tasks = join && "tasks" in join ? join.tasks : undefined;
  const slot = tasks && !scope.opensTasks ? addTasksFiles(scope, "intermediate", tasks) : NO_SLOT;
  const cgroup = openBirthplace(scope);
  for (const type of host.rootless ? JOIN_ORDER_ROOTLESS : JOIN_ORDER_PRIVILEGED) joinByPath(scope, scope.namespace(type));
  if (scope.isNew("time")) {
    builder.add("intermediate", "namespaces", "namespace.unshare", { flags: CLONE_NEW.time }, scope.namespace("time")?.from);
    if (config.timeOffsets) {
      const { monotonic, boottime } = config.timeOffsets;
      builder.add(
        "intermediate",
        "namespaces",
        "time.offsets",
        {
          monotonicSeconds: monotonic.seconds,
          monotonicNanoseconds: monotonic.nanoseconds,
          boottimeSeconds: boottime.seconds,
          boottimeNanoseconds: boottime.nanoseconds,
        },
        "/linux/timeOffsets",
      );
    }
  }
  const flags = cloneFlags(config.namespaces);
  builder.add("intermediate", "namespaces", "process.clone", { flags, cgroup }, "/linux/namespaces");
  builder.add("runtime", "namespaces", "sync.wait", { message: MESSAGES.pid });
  builder.add("init", "namespaces", "process.deathSignal", { signal: SIGNALS.KILL });
  if (tasks) {
    if (scope.opensTasks) addOwnJoin(scope, tasks);
    else addJoin(scope, slot, tasks.length);
  }
  builder.begin("inside");
  if (!join || ("directory" in join && !tasks)) addCgroupNamespace(scope);
}

/** The slot of the directory of v2 that init is cloned into. */
function openBirthplace(scope: Scope): number {
  const { builder, host } = scope;
  const path = birthplace(host.cgroup?.join);
  if (path === undefined) return NO_SLOT;
  const slot = builder.slot();
  if (scope.awaitsCgroup && host.cgroup?.unified !== undefined) awaitBirthplace(scope);
  else if (scope.awaitsCgroup) addRendezvous(scope, "intermediate", "clone");
  builder.add("intermediate", "cgroups", "cgroup.openDirectory", { path, slot }, "/linux/cgroupsPath");
  return slot;
}

/** CLONE_NEW* of the namespaces that process.clone makes. */
export function cloneFlags(namespaces: readonly NamespaceConfig[]): number {
  let flags = 0;
  for (const { path, type } of namespaces) if (path === undefined && type !== "time" && type !== "cgroup") flags |= CLONE_NEW[type];
  return flags;
}

function joinByPath({ builder }: Scope, namespace: NamespaceConfig | undefined): void {
  if (namespace?.path === undefined) return;
  builder.add("intermediate", "namespaces", "namespace.join", { flag: CLONE_NEW[namespace.type], path: namespace.path }, namespace.from);
}

export function addIdentity(scope: Scope): void {
  const { builder, config, host } = scope;
  if (host.resctrl) addResctrlJoin(scope, host.resctrl);
  if (config.process?.oomScoreAdj !== undefined) {
    builder.add("runtime", "namespaces", "process.oomScoreAdj", { value: BigInt(config.process.oomScoreAdj) }, "/process/oomScoreAdj");
  }
  addIdMaps(scope);
  addNetDevices(scope);
  if (scope.isNew("user") || config.netDevices.length > 0) {
    builder.add("runtime", "namespaces", "sync.send", { message: MESSAGES.go });
    builder.add("init", "namespaces", "sync.wait", { message: MESSAGES.go });
  }
  if (scope.inUserNamespace) {
    builder.add("init", "namespaces", "process.becomeRoot", { keepGroups: config.process?.keepGroups === true });
  }
  builder.add("init", "namespaces", "session.create", {});
  addKeyring(scope);
  if (scope.isNew("network")) builder.add("init", "namespaces", "loopback.up", {}, scope.namespace("network")?.from);
  if (config.hostname !== undefined) builder.add("init", "namespaces", "hostname.set", { name: config.hostname }, "/hostname");
  if (config.domainname !== undefined) builder.add("init", "namespaces", "domainname.set", { name: config.domainname }, "/domainname");
}

/** As soon as init is in its network namespace: hooks and sysctls find the devices there. */
function addNetDevices({ builder, config, namespace }: Scope): void {
  const joined = namespace("network")?.path ?? "";
  for (const { device, name, from } of config.netDevices) {
    builder.add("runtime", "namespaces", "netdevice.move", { device, name, namespace: joined }, from);
  }
}
