/** Making and joining the container's cgroup. */
import { CLONE_NEW } from "../../../shared/linux/index.ts";
import { MESSAGES } from "../../../shared/protocol/index.ts";
import { cgroupOwner } from "./cgroup-owner.ts";
import { openFifo } from "./fifo.ts";
import type { Scope } from "./scope.ts";

/** The runtime's part: directories, limits, device rules. These hold before the program runs: init need not wait for them. */
export function addCgroup(scope: Scope): void {
  const { builder, config, host } = scope;
  const origin = config.cgroupsPath === "" ? "" : "/linux/cgroupsPath";
  for (const { path } of host.cgroup?.create ?? []) builder.add("runtime", "cgroups", "cgroup.create", { path }, origin);
  const writes = host.cgroup?.writes ?? [];
  const early = tellsEarly(scope);
  let at = 0;
  for (; at < writes.length && !(early && isDeviceRule(writes[at]!)); at++) addWrite(scope, writes[at]!);
  if (early) builder.add("runtime", "cgroups", "sync.send", { message: MESSAGES.cgroup });
  for (; at < writes.length; at++) addWrite(scope, writes[at]!);
  if (host.cgroup?.devices) builder.add("runtime", "cgroups", "cgroup.devices", host.cgroup.devices, "/linux/resources/devices");
  const owner = host.cgroup && cgroupOwner(scope);
  if (owner === undefined) return;
  for (const { path } of host.cgroup?.create ?? []) {
    builder.add("runtime", "cgroups", "cgroup.delegate", { path, uid: owner }, "/process/user/uid");
  }
}

/** Whether init is told of its cgroups as soon as they are there; where it waits for something else before, in their order. */
function tellsEarly({ host, joinsLate, onlyClones }: Scope): boolean {
  return joinsLate && onlyClones && host.cgroup !== undefined && "tasks" in host.cgroup.join;
}

type Write = NonNullable<Scope["host"]["cgroup"]>["writes"][number];

function addWrite({ builder }: Scope, { path, value, from }: Write): void {
  builder.add("runtime", "cgroups", "cgroup.write", { path, value }, from);
}

/** The last of the writes (src/runtime/cgroup/compile/v1.ts). */
function isDeviceRule({ path }: Write): boolean {
  return path.endsWith("/devices.allow") || path.endsWith("/devices.deny");
}

/** systemd's part comes first: it makes the cgroup around init. */
export function addUnit(scope: Scope): void {
  const join = scope.host.cgroup?.join;
  if (!join || !("unit" in join)) return;
  const { attach, ...unit } = join;
  scope.builder.add("runtime", "cgroups", "systemd.startUnit", unit, scope.config.cgroupsPath === "" ? "" : "/linux/cgroupsPath");
  addCgroup(scope);
  if (attach.length > 0) scope.builder.add("runtime", "cgroups", "cgroup.attach", { files: attach }, "/linux/cgroupsPath");
}

/** outer opens the tasks files before the clone, where init could not or need not wait. Returns their first slot. */
export function addTasksFiles({ builder }: Scope, actor: "outer" | "init", tasks: readonly string[]): number {
  const slot = builder.slot(tasks.length);
  builder.add(actor, "cgroups", "cgroup.open", { files: tasks, slot }, "/linux/cgroupsPath");
  return slot;
}

/** init writes itself into the opened files, and makes the cgroup namespace, whose root is the cgroup of whoever makes it. */
export function addJoin(scope: Scope, slot: number, count: number): void {
  scope.builder.add("init", "cgroups", "cgroup.join", { slot, count }, "/linux/cgroupsPath");
  addCgroupNamespace(scope);
}

export function addCgroupNamespace(scope: Scope): void {
  if (!scope.isNew("cgroup")) return;
  scope.builder.add("init", "cgroups", "namespace.unshare", { flags: CLONE_NEW.cgroup }, scope.namespace("cgroup")?.from);
}

/**
 * The rendezvous of a late join: before the first cgroup mount, at the latest before the pivot hides the hierarchies. Who has been
 * moved into a unit has nothing to join.
 */
export function addLateJoin(scope: Scope): void {
  const join = scope.host.cgroup?.join;
  if (!scope.joinsLate || scope.hasJoined || !join) return;
  scope.hasJoined = true;
  if (!tellsEarly(scope)) scope.builder.add("runtime", "cgroups", "sync.send", { message: MESSAGES.cgroup });
  if (!scope.joinsLast) addWait(scope);
  if (scope.beginsFirst) openFifo(scope, "init");
  if (!("tasks" in join)) {
    addCgroupNamespace(scope);
    return;
  }
  const slot = addTasksFiles(scope, "init", join.tasks);
  if (scope.joinsLast) scope.tasksSlot = slot;
  else addJoin(scope, slot, join.tasks.length);
}

function addWait({ builder }: Scope): void {
  builder.add("init", "cgroups", "sync.wait", { message: MESSAGES.cgroup });
}

/** Behind the pivot, by the files that were opened before it: what init does with mounts need not wait for limits. */
export function addLastJoin(scope: Scope): void {
  const join = scope.host.cgroup?.join;
  if (!scope.joinsLast || !join || !("tasks" in join)) return;
  addWait(scope);
  addJoin(scope, scope.tasksSlot, join.tasks.length);
}
