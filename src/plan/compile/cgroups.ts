/** Making and joining the container's cgroup. */
import { CLONE_NEW } from "../linux.ts";
import { MESSAGES } from "../ops.ts";
import type { Scope } from "./scope.ts";

/** The runtime's part: directories, limits, device rules. */
export function addCgroup({ builder, config, host }: Scope): void {
  const origin = config.cgroupsPath === "" ? "" : "/linux/cgroupsPath";
  for (const { path } of host.cgroup?.create ?? []) builder.add("runtime", "cgroups", "cgroup.create", { path }, origin);
  for (const { path, value, from } of host.cgroup?.writes ?? []) builder.add("runtime", "cgroups", "cgroup.write", { path, value }, from);
  if (host.cgroup?.devices) builder.add("runtime", "cgroups", "cgroup.devices", host.cgroup.devices, "/linux/resources/devices");
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

/** The rendezvous of a late join: before the first cgroup mount, at the latest before the pivot hides the hierarchies. */
export function addLateJoin(scope: Scope): void {
  const join = scope.host.cgroup?.join;
  if (!scope.joinsLate || scope.hasJoined || !join || !("tasks" in join)) return;
  scope.hasJoined = true;
  scope.builder.add("runtime", "cgroups", "sync.send", { message: MESSAGES.cgroup });
  scope.builder.add("init", "cgroups", "sync.wait", { message: MESSAGES.cgroup });
  addJoin(scope, addTasksFiles(scope, "init", join.tasks), join.tasks.length);
}
