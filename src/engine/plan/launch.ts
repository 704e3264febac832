/** A container of a task -> what the executor is asked to launch. Pure. */
import { type CommandLaunch, DEFAULT_CAPABILITIES, type Mount, type NamespaceMode, type Resources } from "../../executor/index.ts";
import type { ContainerSpec, MountSpec, TaskSpec } from "../spec/index.ts";

export interface Placement {
  /** Absolute path of the cgroup below which the task's containers are. */
  readonly cgroupParent: string;
  /** File that both output streams are appended to. */
  readonly log: string;
  /** Path of a scratch volume of the task. */
  readonly volume: (name: string) => string;
  readonly annotations: Readonly<Record<string, string>>;
}

/** Of a task in which nothing is unsupported (supported.ts). */
export function launchOf(task: TaskSpec, container: ContainerSpec, { cgroupParent, log, volume, annotations }: Placement): CommandLaunch {
  const mode = (name: keyof TaskSpec["namespaces"]): NamespaceMode => (task.namespaces[name] === "host" ? "host" : "private");
  const file = { file: log };
  return {
    rootfs: container.rootfs!,
    readonlyRootfs: container.readonlyRootfs,
    cmd: container.command!,
    args: container.args,
    env: container.env,
    cwd: container.cwd,
    user: container.user,
    ...(container.hostname === undefined ? {} : { hostname: container.hostname }),
    capabilities: capabilitiesOf(container),
    noNewPrivileges: container.noNewPrivileges,
    resources: resourcesOf(container),
    mounts: container.mounts.map((mount) => bindOf(task, mount, volume)),
    namespaces: { pid: mode("pid"), ipc: mode("ipc"), network: mode("network"), uts: mode("uts") },
    annotations: { ...container.annotations, ...annotations },
    cgroupParent,
    stdio: { stdout: file, stderr: file },
  };
}

function capabilitiesOf({ capabilities: { add, drop } = { add: [], drop: [] } }: ContainerSpec): string[] {
  const kept = drop.includes("ALL") ? [] : DEFAULT_CAPABILITIES.filter((name) => !drop.includes(name));
  return [...new Set([...kept, ...add])];
}

function resourcesOf({ cpus, cpuShares, memory, memoryReservation, pids }: ContainerSpec): Resources {
  return {
    ...(cpus === undefined ? {} : { cpus }),
    ...(cpuShares === undefined ? {} : { cpuShares: withinShares(cpuShares) }),
    ...(memory === undefined ? {} : { memoryBytes: memory }),
    ...(memoryReservation === undefined ? {} : { memoryReservationBytes: memoryReservation }),
    ...(pids === undefined ? {} : { pids }),
  };
}

/** The kernel's bounds for cpu.shares: the spec says that other values are moved to the nearest. */
function withinShares(shares: number): number {
  return Math.min(262_144, Math.max(2, shares));
}

function bindOf({ volumes }: TaskSpec, { volume, source, target, readOnly }: MountSpec, scratch: (name: string) => string): Mount {
  const directory = volume === undefined ? source! : (volumes.find(({ name }) => name === volume)?.host ?? scratch(volume));
  return {
    destination: target,
    source: directory,
    type: "bind",
    options: ["rbind", "rprivate", "nosuid", "nodev", readOnly ? "ro" : "rw"],
  };
}
