/** Making and joining the container's cgroup. */
import { CLONE_NEW, MOUNT_ATTR } from "../../../shared/linux/index.ts";
import { MESSAGES } from "../../../shared/protocol/index.ts";
import type { GroupPlace } from "../input.ts";
import type { Part } from "../schedule.ts";
import type { Scope } from "./scope.ts";

/** The runtime's part: directories, limits, device rules. */
export function addCgroup(scope: Scope): void {
  const { builder, config, host } = scope;
  const { cgroup } = host;
  if (!cgroup) return;
  const origin = config.cgroupsPath === "" ? "" : "/linux/cgroupsPath";
  if (cgroup.unified !== undefined) {
    builder.begin("birthplace");
    builder.add("runtime", "cgroups", "cgroup.create", { path: cgroup.unified }, origin);
  }
  builder.begin("cgroups");
  for (const { path } of cgroup.create) builder.add("runtime", "cgroups", "cgroup.create", { path }, origin);
  let inRules = host.cgroupVersion === 2;
  const { writes } = cgroup;
  for (let index = 0; index < writes.length; index++) {
    const { path, value, from } = writes[index]!;
    if (!inRules && isDeviceRule(path)) {
      inRules = true;
      builder.begin("deviceRules");
    }
    builder.add("runtime", "cgroups", "cgroup.write", { path, value }, from);
  }
  if (cgroup.devices) {
    builder.begin("deviceRules");
    builder.add("runtime", "cgroups", "cgroup.devices", cgroup.devices, "/linux/resources/devices");
  }
  const owner = cgroupOwner(scope);
  if (owner === undefined) return;
  builder.begin("cgroups");
  for (const { path } of cgroup.create) builder.add("runtime", "cgroups", "cgroup.delegate", { path, uid: owner }, "/process/user/uid");
}

/** The last of the writes (src/runtime/cgroup/compile/resources.ts). */
function isDeviceRule(path: string): boolean {
  return path.endsWith("/devices.allow") || path.endsWith("/devices.deny");
}

/** systemd's part comes first: it makes the cgroup around init, which has nothing to join then. */
export function addUnit(scope: Scope): void {
  const join = scope.host.cgroup?.join;
  if (!join || !("unit" in join)) return;
  const { attach, ...unit } = join;
  scope.builder.add("runtime", "cgroups", "systemd.startUnit", unit, scope.config.cgroupsPath === "" ? "" : "/linux/cgroupsPath");
  addCgroup(scope);
  if (attach.length > 0) scope.builder.add("runtime", "cgroups", "cgroup.attach", { files: attach }, "/linux/cgroupsPath");
  addRendezvous(scope, "init", "waits");
  scope.builder.begin("joins");
  addCgroupNamespace(scope);
  scope.builder.begin("inside");
}

/** v1: the actor opens the tasks files. Returns their first slot. */
export function addTasksFiles({ builder }: Scope, actor: "intermediate" | "init", tasks: readonly string[]): number {
  const slot = builder.slot(tasks.length);
  builder.add(actor, "cgroups", "cgroup.open", { files: tasks, slot }, "/linux/cgroupsPath");
  return slot;
}

/** init writes itself into the opened files, and makes the cgroup namespace, whose root is the cgroup of whoever makes it. */
export function addJoin(scope: Scope, slot: number, count: number): void {
  scope.builder.add("init", "cgroups", "cgroup.join", { slot, count }, "/linux/cgroupsPath");
  addCgroupNamespace(scope);
}

/** The same where init opens the files itself, as soon as it is told that its cgroups are there. */
export function addOwnJoin(scope: Scope, tasks: readonly string[]): void {
  const { builder } = scope;
  addRendezvous(scope, "init", "waits");
  builder.begin("tasks");
  const slot = addTasksFiles(scope, "init", tasks);
  builder.begin("joins");
  addJoin(scope, slot, tasks.length);
}

export function addCgroupNamespace(scope: Scope): void {
  if (!scope.isNew("cgroup")) return;
  scope.builder.add("init", "cgroups", "namespace.unshare", { flags: CLONE_NEW.cgroup }, scope.namespace("cgroup")?.from);
}

/** Hybrid hosts: tells the intermediate that the directory of v2 exists. The cgroups of v1 are made while it clones. */
export function awaitBirthplace({ builder }: Scope): void {
  builder.begin("birthplace");
  builder.add("runtime", "cgroups", "sync.send", { message: MESSAGES.birthplace });
  builder.begin("clone");
  builder.add("intermediate", "cgroups", "sync.wait", { message: MESSAGES.birthplace });
}

/** Tells the actor that the cgroups exist with their limits. In this part of the plan it waits for that. */
export function addRendezvous({ builder }: Scope, actor: "intermediate" | "init", part: Part): void {
  builder.begin("told");
  builder.add("runtime", "cgroups", "sync.send", { message: MESSAGES.cgroup });
  builder.begin(part);
  builder.add(actor, "cgroups", "sync.wait", { message: MESSAGES.cgroup });
}

const PLACE = "/sys/fs/cgroup";

/**
 * The user of the host who owns the container's cgroup (config-linux, cgroup ownership): on v2, with a new cgroup namespace and
 * a writable cgroup mount at its usual place, the user of the process. undefined: it stays the caller's, as it does for a user that
 * no mapping of this configuration tells (a user namespace joined by path).
 */
export function cgroupOwner({ config, host, isNew, inUserNamespace }: Scope): number | undefined {
  if (host.cgroupVersion !== 2 || !isNew("cgroup")) return undefined;
  const mount = config.mounts.find(({ target }) => target === PLACE);
  if (mount?.kind !== "cgroup" || (mount.attrSet & MOUNT_ATTR.RDONLY) !== 0n) return undefined;
  const uid = config.process?.uid ?? 0;
  const owner = inUserNamespace ? mapped(config.uidMappings, uid) : uid;
  return owner === (host.caller?.uid ?? 0) ? undefined : owner;
}

function mapped(mappings: Scope["config"]["uidMappings"], uid: number): number | undefined {
  const mapping = mappings.find(({ containerId, size }) => uid >= containerId && uid < containerId + size);
  return mapping && mapping.hostId + uid - mapping.containerId;
}

const POINTER = "/linux/intelRdt";

/** Before anything is started, so that a refusal costs nothing. */
export function addResctrlGroups({ builder, config, host }: Scope): void {
  if (!config.intelRdt || !host.resctrl) return;
  const { closId, schemata } = config.intelRdt;
  const { mount, group, monitor } = host.resctrl;
  const create = closId === undefined || schemata.length > 0;
  builder.add("runtime", "host", "resctrl.prepare", { mount, group, create, schemata }, POINTER);
  if (monitor !== undefined) builder.add("runtime", "host", "resctrl.monitor", { mount, group: monitor }, `${POINTER}/enableMonitoring`);
}

/** The runtime moves init, which starts nothing before it is in. A task gets into a monitoring group only from the group above it. */
export function addResctrlJoin({ builder }: Pick<Scope, "builder">, { mount, group, monitor }: GroupPlace): void {
  for (const name of monitor === undefined ? [group] : [group, monitor])
    builder.add("runtime", "namespaces", "resctrl.join", { mount, group: name }, POINTER);
}
