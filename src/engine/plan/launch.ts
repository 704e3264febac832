/** Translates a container of a task into the launch command of the executor. Pure. */
import {
  DEFAULT_CAPABILITIES,
  type LaunchCommand,
  type LogFile,
  type Mount,
  type NamespaceMode,
  type OciObject,
  type Resources,
  type StdioSet,
} from "../../executor/index.ts";
import { type ContainerSpec, type ImageConfig, type MountSpec, NAMESPACES, namespacesOf, type TaskSpec } from "../spec/index.ts";
import { type ImageProcess, imageProcess } from "./image.ts";
import { fileMounts, type NetworkPlacement } from "./network-files.ts";
import { defaultSeccomp } from "./seccomp.ts";
import { sharesOf } from "./task-limits.ts";

export interface Placement {
  /** Absolute path of the cgroup below which the task's containers are. */
  readonly cgroupParent: string;
  /** The log of both output streams. */
  readonly log: string;
  /** Path of a scratch volume of the task. */
  readonly volume: (name: string) => string;
  /** What its env files say. */
  readonly env?: Readonly<Record<string, string>>;
  /** Secrets that are variables. */
  readonly secretEnv?: Readonly<Record<string, string>>;
  /** Paths of the files with its secrets, in their order. */
  readonly secrets?: readonly string[];
  /** The directory with what it is told about itself; absent: there is none. */
  readonly metadata?: string;
  readonly annotations: Readonly<Record<string, string>>;
  /** config.json of its bundle. */
  readonly config?: OciObject;
  /** Its image, whose root file system is ready. */
  readonly image?: ImagePlacement;
  /** What its seccomp file says. */
  readonly seccomp?: OciObject;
  /** Of the host, as Node names it. */
  readonly architecture: string;
  /** Id of the process that holds the namespaces which the task's containers share. */
  readonly pause?: string;
  /** What the engine has made of a network for the task. */
  readonly network?: NetworkPlacement;
}

export interface ImagePlacement {
  readonly config: ImageConfig;
  /** Absolute. */
  readonly rootfs: string;
  /** Directories of the host for paths that the image wants as volumes. */
  readonly volumes: readonly { readonly target: string; readonly source: string }[];
}

/** @throws Error: an image without a program, and none is named */
export function launchOf(task: TaskSpec, container: ContainerSpec, placement: Placement): LaunchCommand {
  const { cgroupParent, log, annotations, config, pause, network } = placement;
  const shared = NAMESPACES.filter((name) => task.namespaces[name] === "shared");
  const common = {
    resources: limitsOf(task, container),
    mounts: [
      ...(placement.image?.volumes ?? []).map(volumeOf),
      ...container.mounts.map((mount) => bindOf(task, mount, placement)),
      ...fileMounts(network, container, config),
      ...metadataMount(container, placement),
      ...secretMounts(container, placement),
    ],
    annotations: { ...container.annotations, ...annotations },
    cgroupParent,
    stdio: { ...outputOf(container, log), ...(takesInput(container) ? { stdin: "open" as const } : {}) },
    ...(container.tty ? { pty: true } : {}),
  };
  const joined = {
    ...Object.fromEntries(shared.map((name): [string, NamespaceMode] => [name, { executor: pause! }])),
    ...(network === undefined ? {} : { network: { path: network.path } }),
  };
  // Of the others config.json says the same as the task file (plan/bundle.ts).
  if (config !== undefined) return { ...common, config, bundle: container.bundle!, namespaces: joined };
  const capabilities = capabilitiesOf(container);
  const seccomp = seccompOf(container, placement, capabilities);
  return {
    ...common,
    rootfs: placement.image?.rootfs ?? container.rootfs!,
    readonlyRootfs: container.readonlyRootfs,
    ...processOf(container, placement),
    ...(container.groups === undefined ? {} : { additionalGids: container.groups }),
    ...hostnameOf(task, container, network),
    capabilities,
    noNewPrivileges: container.noNewPrivileges,
    namespaces: { ...Object.fromEntries(NAMESPACES.map((name) => [name, modeOf(task, name)])), ...joined },
    ...(seccomp === undefined ? {} : { seccomp }),
  };
}

/** Whether somebody can write to its standard input. */
export function takesInput({ stdin, tty }: ContainerSpec): boolean {
  return stdin === true || tty === true;
}

function processOf(given: ContainerSpec, { image, env: ofFiles, secretEnv }: Placement): ImageProcess {
  const container = { ...given, env: { ...ofFiles, ...given.env, ...secretEnv } };
  if (image === undefined) {
    const { command, args, env, cwd = "/", user = "0" } = container;
    return { cmd: command!, args, env, cwd, user };
  }
  const found = imageProcess(container, image.config);
  if (found === undefined) throw new Error("the image names no program, and the task names no command");
  return found;
}

function modeOf(task: TaskSpec, name: keyof TaskSpec["namespaces"]): NamespaceMode {
  return namespacesOf(task)[name] === "host" ? "host" : "private";
}

/** In a network of the task each of its containers has the task's name, unless it says another. */
function hostnameOf(task: TaskSpec, { hostname }: ContainerSpec, network: NetworkPlacement | undefined): { readonly hostname?: string } {
  if (hostname !== undefined) return { hostname };
  return network === undefined || task.namespaces.uts !== "private" ? {} : { hostname: task.name };
}

function seccompOf({ seccomp }: ContainerSpec, placement: Placement, capabilities: readonly string[]): OciObject | undefined {
  if (seccomp === undefined) return defaultSeccomp(capabilities, placement.architecture);
  return seccomp === "unconfined" ? undefined : placement.seccomp;
}

function capabilitiesOf({ capabilities: { add, drop } = { add: [], drop: [] } }: ContainerSpec): string[] {
  const kept = drop.includes("ALL") ? [] : DEFAULT_CAPABILITIES.filter((name) => !drop.includes(name));
  return [...new Set([...kept, ...add])];
}

/** What `update` changes while it runs. A container without a limit of memory has that of its task, so that what a program reads of its own limit is true. */
export function limitsOf(task: TaskSpec, container: ContainerSpec): Resources {
  const { cpus, memoryReservation, pids } = container;
  const memory = container.memory ?? task.memory;
  const shares = sharesOf(container);
  return {
    ...(cpus === undefined ? {} : { cpus }),
    ...(shares === undefined ? {} : { cpuShares: shares }),
    ...(memory === undefined ? {} : { memoryBytes: memory }),
    ...(memoryReservation === undefined ? {} : { memoryReservationBytes: memoryReservation }),
    ...(pids === undefined ? {} : { pids }),
  };
}

function outputOf(container: ContainerSpec, path: string): Pick<StdioSet, "log" | "stdout" | "stderr"> {
  return container.log?.driver === "none" ? { stdout: "null", stderr: "null" } : { log: { path, ...rotationOf(container) } };
}

function rotationOf({ log: { maxSize, maxFiles } = {} }: ContainerSpec): Omit<LogFile, "path"> {
  return { ...(maxSize === undefined ? {} : { maxBytes: maxSize }), ...(maxFiles === undefined ? {} : { files: maxFiles }) };
}

/** A file or directory of the host; undefined: a volume that the engine makes. */
export function sourceOf({ volumes }: TaskSpec, { volume, source, subPath }: MountSpec): string | undefined {
  const base = volume === undefined ? source : volumes.find(({ name }) => name === volume)?.host;
  return base === undefined || subPath === undefined ? base : `${base}/${subPath}`;
}

function metadataMount({ metadata: target }: ContainerSpec, { metadata: source }: Placement): Mount[] {
  if (target === undefined || source === undefined) return [];
  return [{ destination: target, source, type: "bind", options: ["bind", "rprivate", "nosuid", "nodev", "noexec", "src-nofollow", "rro"] }];
}

function secretMounts({ secrets = [] }: ContainerSpec, { secrets: sources = [] }: Placement): Mount[] {
  const options = ["bind", "rprivate", "nosuid", "nodev", "noexec", "src-nofollow", "rro"];
  return secrets.flatMap(({ target }, at) =>
    target === undefined ? [] : [{ destination: target, source: sources[at]!, type: "bind", options }],
  );
}

function volumeOf({ target, source }: ImagePlacement["volumes"][number]): Mount {
  return { destination: target, source, type: "bind", options: ["rbind", "rprivate", "nosuid", "nodev", "src-nofollow", "rw"] };
}

function bindOf(task: TaskSpec, mount: MountSpec, { volume }: Placement): Mount {
  const made = () => (mount.subPath === undefined ? volume(mount.volume!) : `${volume(mount.volume!)}/${mount.subPath}`);
  // What is confined was opened and bound by the engine: nobody can put something else in its place.
  const source = (task.hostPaths === undefined ? sourceOf(task, mount) : undefined) ?? made();
  const options = ["rbind", "rprivate", "nosuid", "nodev", "src-nofollow", mount.readOnly ? "rro" : "rw"];
  return { destination: mount.target, source, type: "bind", options };
}
