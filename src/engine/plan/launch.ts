/** Translates a container of a task into the launch command of the executor. Pure. */
import {
  type CommandLaunch,
  DEFAULT_CAPABILITIES,
  type Device,
  type DeviceRule,
  defaultSeccomp,
  type LaunchCommand,
  type LogFile,
  type Mount,
  type NamespaceMode,
  type OciObject,
  plainSeccomp,
  type Resources,
  type StdioSet,
} from "../../executor/index.ts";
import { USERS_OF_A_TASK } from "../model/index.ts";
import {
  appliedShares,
  type ContainerSpec,
  type ImageConfig,
  type MountSpec,
  NAMESPACES,
  namespacesOf,
  type TaskSpec,
} from "../spec/index.ts";
import { checkUser, type ImageProcess, imageProcess, userOf } from "./image.ts";
import { memberAnnotations, relayMounts } from "./machine.ts";
import { fileMounts, type NetworkPlacement, resolvMounts } from "./network-files.ts";

const SHARED_MEMORY = "/dev/shm";

export interface Placement {
  /** Absolute path of the parent cgroup of the task's containers. */
  readonly cgroupParent: string;
  /** Path of the log for both output streams. */
  readonly log: string;
  /** The file or directory that each of its mounts is of, in the order of the spec. */
  readonly sources?: readonly MountSource[];
  /** What the engine mounts in it, besides the mounts of the spec. */
  readonly mounts?: readonly Mount[];
  /** The variables of its env files. */
  readonly env?: Readonly<Record<string, string>>;
  /** The secrets that become environment variables. */
  readonly secretEnv?: Readonly<Record<string, string>>;
  /** Variables with what the engine has for it, such as the address of its log router. */
  readonly engineEnv?: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** config.json of its bundle. */
  readonly config?: OciObject;
  /** The container's image, whose root file system is ready. */
  readonly image?: ImagePlacement;
  /** The content of its seccomp file. */
  readonly seccomp?: OciObject;
  /** Devices of the host. */
  readonly devices?: DevicePlacement;
  /** Architecture of the host, as in Node's process.arch. */
  readonly architecture: string;
  /** Release of the kernel, as uname(2) has it. */
  readonly kernel?: string;
  /** Runtime id of the pause container, which holds the namespaces that the task's containers share. */
  readonly pause?: string;
  /** Runtime ids of the containers that hold the namespaces of other tasks which this one uses. */
  readonly holders?: Readonly<Partial<Record<"pid" | "ipc", string>>>;
  /** Path of the program that makes connections in the virtual machine of the task; undefined: it has none. */
  readonly relay?: string;
  /** The network that the engine has made for the task. */
  readonly network?: NetworkPlacement;
  /** Path of its resolv.conf, if it has no such network. */
  readonly resolv?: string;
  /** The users of the task, if it has some of its own. */
  readonly users?: UsersPlacement;
}

export interface DevicePlacement {
  readonly nodes: readonly Device[];
  readonly rules: readonly DeviceRule[];
  /** Variables, mounts, groups and programs that the devices need. The variables take precedence over all others. */
  readonly env: Readonly<Record<string, string>>;
  readonly mounts: readonly Mount[];
  readonly gids: readonly number[];
  readonly hooks?: OciObject;
  /** linux.resources.blockIO of the OCI configuration. */
  readonly blockIO?: OciObject;
}

export interface MountSource {
  /** Absolute path. */
  readonly path: string;
  /** These two as stat(2) has them. */
  readonly device: bigint;
  readonly inode: bigint;
}

export interface UsersPlacement {
  /** File to which the user namespace is bound. */
  readonly namespace: string;
  /** Id of the host that is 0 in it. */
  readonly first: number;
  /** Root file system of the pause program, where they can reach it. */
  readonly pause: string;
}

export interface ImagePlacement {
  readonly config: ImageConfig;
  /** Absolute path. */
  readonly rootfs: string;
  /** Directories of the host that back the volumes which the image declares. */
  readonly volumes: readonly { readonly target: string; readonly source: string }[];
}

/** @throws Error: neither the image nor the task names a program */
export function launchOf(task: TaskSpec, container: ContainerSpec, placement: Placement): LaunchCommand {
  const { cgroupParent, log, annotations, config, pause, holders = {}, network, relay } = placement;
  const shared = NAMESPACES.filter((name) => task.namespaces[name] === "shared");
  // It has booted the machine, which the container joins.
  const sandbox = relay === undefined ? undefined : pause;
  const common = {
    resources: limitsOf(task, container),
    mounts: [
      // Their files belong to the task's users already.
      ...(placement.image?.volumes ?? []).map((one) => volumeOf(container, one)),
      ...[
        ...container.mounts.map((mount, at) => bindOf(container, mount, placement.sources![at]!)),
        ...fileMounts(network, container, config),
        ...resolvMounts(placement.resolv, container, config),
        ...relayMounts(relay),
        ...(placement.mounts ?? []),
        ...(placement.devices?.mounts ?? []),
        ...sharedMemory(container),
      ].map((mount) => mappedMount(mount, placement.users)),
    ],
    ...(placement.users === undefined ? {} : { userNamespace: placement.users.namespace }),
    annotations: { ...container.annotations, ...annotations, ...(sandbox === undefined ? {} : memberAnnotations(sandbox)) },
    ...(sandbox === undefined ? {} : { sandbox }),
    cgroupParent,
    stdio: { ...outputOf(container, log), ...stdinOf(container) },
    ...(container.tty ? { pty: true } : {}),
  };
  const joined = {
    ...Object.fromEntries(shared.map((name): [string, NamespaceMode] => [name, { executor: pause! }])),
    ...Object.fromEntries(Object.entries(holders).map(([name, executor]): [string, NamespaceMode] => [name, { executor }])),
    ...(network === undefined ? {} : { network: { path: network.path } }),
  };
  // For all other namespaces config.json agrees with the task file (plan/bundle.ts).
  if (config !== undefined) return { ...common, config, bundle: container.bundle!, namespaces: joined };
  const rights = container.privileged ? { privileged: true } : { capabilities: capabilitiesOf(container) };
  const seccomp = seccompOf(container, placement);
  return {
    ...common,
    rootfs: placement.image?.rootfs ?? container.rootfs!,
    readonlyRootfs: container.readonlyRootfs,
    ...processOf(task, container, placement),
    ...groupsOf(container, placement.devices),
    ...devicesOf(placement.devices),
    ...(container.strictGroups ? { strictGids: true } : {}),
    ...hostnameOf(task, container, network),
    ...rights,
    ...rlimitsOf(container),
    ...(container.oomScoreAdj === undefined ? {} : { oomScoreAdj: container.oomScoreAdj }),
    ...(container.unmasked ? { unmasked: true } : {}),
    ...(container.sharedMemory === false ? { sharedMemory: false } : {}),
    ...(container.apparmor === undefined ? {} : { apparmorProfile: container.apparmor }),
    ...(container.domainname === undefined ? {} : { domainname: container.domainname }),
    noNewPrivileges: container.noNewPrivileges,
    namespaces: {
      ...Object.fromEntries(NAMESPACES.map((name) => [name, modeOf(task, name)])),
      ...joined,
      ...(container.hostCgroups ? { cgroup: "host" as const } : {}),
    },
    ...(seccomp === undefined ? {} : { seccomp }),
  };
}

/** Whether standard input of the container can be written to. */
export function takesInput({ stdin, tty }: ContainerSpec): boolean {
  return (stdin !== undefined && stdin !== false) || tty === true;
}

/** Whether standard input of the container ends with that of the first client. A terminal has no such end: ^D is one for its line. */
export function inputEnds({ stdin, tty }: ContainerSpec): boolean {
  return stdin === "once" && tty !== true;
}

function stdinOf(container: ContainerSpec): { readonly stdin?: "open" | "pipe" } {
  return takesInput(container) ? { stdin: inputEnds(container) ? "pipe" : "open" } : {};
}

/** With the address of the task where its command, arguments and variables have a reference to it. */
function addressed(
  { addressEnv = [], command, args, env, ...container }: ContainerSpec,
  known: Placement["engineEnv"] = {},
): ContainerSpec {
  const filled = (text: string) => text.replace(REFERENCE, (all, name: string) => (addressEnv.includes(name) ? (known[name] ?? all) : all));
  return {
    ...container,
    ...(command === undefined ? {} : { command: filled(command) }),
    args: args.map(filled),
    env: Object.fromEntries(Object.entries(env).map(([name, value]) => [name, filled(value)])),
  };
}

const REFERENCE = /\$\(([^()\s]+)\)/g;

/** Docker and containerd set these variables, too. Images and tasks may replace them. Source: moby, container.CreateDaemonEnvironment. */
function usualEnv(task: TaskSpec, container: ContainerSpec, network: NetworkPlacement | undefined): Readonly<Record<string, string>> {
  const { hostname = task.namespaces.uts === "shared" ? task.name : undefined } = hostnameOf(task, container, network);
  return { ...(hostname === undefined ? {} : { HOSTNAME: hostname }), ...(container.tty ? { TERM: "xterm" } : {}) };
}

function processOf(task: TaskSpec, written: ContainerSpec, placement: Placement): ImageProcess {
  const { image, env: ofFiles, secretEnv, engineEnv, devices, network } = placement;
  const given = addressed(written, engineEnv);
  const container = { ...given, env: { ...engineEnv, ...ofFiles, ...given.env, ...secretEnv, ...devices?.env } };
  if (image === undefined) {
    const { command, args, env, cwd = "/" } = container;
    const user = userOf(container.user);
    checkUser(container, user);
    return { cmd: command!, args, env: { ...usualEnv(task, container, network), ...env }, cwd, user };
  }
  const found = imageProcess(container, image.config);
  if (found === undefined) throw new Error("the image names no program, and the task names no command");
  checkUser(container, found.user);
  return { ...found, env: { ...usualEnv(task, container, network), ...found.env } };
}

function groupsOf({ groups = [] }: ContainerSpec, devices: DevicePlacement | undefined) {
  const names = groups.filter((one) => typeof one === "string");
  const gids = [...groups.filter((one) => typeof one === "number"), ...(devices?.gids ?? [])];
  return { ...(gids.length === 0 ? {} : { additionalGids: gids }), ...(names.length === 0 ? {} : { additionalGroups: names }) };
}

function devicesOf(devices: DevicePlacement | undefined): Pick<CommandLaunch, "devices" | "deviceRules" | "hooks" | "blockIO"> {
  if (devices === undefined) return {};
  const { nodes, rules, hooks, blockIO } = devices;
  return { devices: nodes, deviceRules: rules, ...(hooks === undefined ? {} : { hooks }), ...(blockIO === undefined ? {} : { blockIO }) };
}

function modeOf(task: TaskSpec, name: keyof TaskSpec["namespaces"]): NamespaceMode {
  return namespacesOf(task)[name] === "host" ? "host" : "private";
}

/** In a network of the task, containers that set no hostname have the name of the task. */
function hostnameOf(task: TaskSpec, { hostname }: ContainerSpec, network: NetworkPlacement | undefined): { readonly hostname?: string } {
  if (hostname !== undefined) return { hostname };
  return network === undefined || task.namespaces.uts !== "private" ? {} : { hostname: task.name };
}

function seccompOf(container: ContainerSpec, placement: Placement): OciObject | undefined {
  const { seccomp, privileged } = container;
  if (seccomp === undefined) return privileged ? undefined : defaultSeccomp(capabilitiesOf(container), placement.architecture);
  if (seccomp === "unconfined") return undefined;
  const { seccomp: given, architecture, kernel = "" } = placement;
  return given && plainSeccomp(given, { capabilities: capabilitiesOf(container), architecture, kernel });
}

function capabilitiesOf({ capabilities: { add, drop } = { add: [], drop: [] } }: ContainerSpec): string[] {
  const kept = drop.includes("ALL") ? [] : DEFAULT_CAPABILITIES.filter((name) => !drop.includes(name));
  return [...new Set([...kept, ...add])];
}

/** The limits that `update` changes. A container without a memory limit gets that of its task, so that a program that reads its own limit sees the effective one. */
export function limitsOf(task: TaskSpec, container: ContainerSpec): Resources {
  const { cpus, cpuset, memoryReservation, memorySwap, pids, hugepages } = container;
  const memory = container.memory ?? task.memory;
  const shares = appliedShares(container);
  return {
    ...(cpus === undefined ? {} : { cpus }),
    ...(shares === undefined ? {} : { cpuShares: shares }),
    ...(cpuset === undefined ? {} : { cpuset }),
    ...(memory === undefined ? {} : { memoryBytes: memory }),
    ...(memoryReservation === undefined ? {} : { memoryReservationBytes: memoryReservation }),
    ...(memorySwap === undefined ? {} : { memorySwapBytes: memorySwap === "unlimited" ? -1 : memorySwap }),
    ...(pids === undefined ? {} : { pids }),
    ...(hugepages === undefined ? {} : { hugepages }),
  };
}

function outputOf(container: ContainerSpec, path: string): Pick<StdioSet, "log" | "stdout" | "stderr"> {
  return container.log?.driver === "none" ? { stdout: "null", stderr: "null" } : { log: { path, ...rotationOf(container) } };
}

function rotationOf({ log: { maxSize, maxFiles } = {} }: ContainerSpec): Omit<LogFile, "path"> {
  return { ...(maxSize === undefined ? {} : { maxBytes: maxSize }), ...(maxFiles === undefined ? {} : { files: maxFiles }) };
}

/** Path of a file or directory of the host; undefined: the mount is a volume that the engine makes. */
export function sourceOf({ volumes }: TaskSpec, { volume, source, subPath }: MountSpec): string | undefined {
  const base = volume === undefined ? source : volumes.find(({ name }) => name === volume)?.host;
  return base === undefined || subPath === undefined ? base : `${base}/${subPath}`;
}

/** To the users of the task, files of the host from id 0 on belong. */
function mappedMount(mount: Mount, users: UsersPlacement | undefined): Mount {
  if (users === undefined) return mount;
  const ids = [{ containerID: 0, hostID: users.first, size: USERS_OF_A_TASK }];
  const option = mount.options?.includes("rbind") ? "ridmap" : "idmap";
  return { ...mount, options: [...(mount.options ?? []), option], uidMappings: ids, gidMappings: ids };
}

/** Takes the place of the usual one, which has 64 MiB. */
function sharedMemory({ shmSize, mounts, sharedMemory: isThere }: ContainerSpec): Mount[] {
  if (shmSize === undefined || isThere === false || mounts.some(({ target }) => target === SHARED_MEMORY)) return [];
  const options = ["nosuid", "noexec", "nodev", "mode=1777", `size=${shmSize}`];
  return [{ destination: SHARED_MEMORY, type: "tmpfs", source: "shm", options }];
}

/** What "unlimited" is for setrlimit(2), RLIM_INFINITY. */
const UNLIMITED = 2n ** 64n - 1n;

function rlimitsOf({ rlimits }: ContainerSpec): Pick<CommandLaunch, "rlimits"> {
  if (rlimits === undefined) return {};
  const numberOf = (value: number | "unlimited") => (value === "unlimited" ? UNLIMITED : value);
  return {
    rlimits: Object.entries(rlimits).map(([name, { soft, hard }]) => ({
      type: `RLIMIT_${name.toUpperCase()}`,
      soft: numberOf(soft),
      hard: numberOf(hard),
    })),
  };
}

/** The runtime does not follow a link at the end of the source. With a device and an inode it takes nothing but this file. */
const NOT_FOLLOWED = "src-nofollow";

/** A privileged container may use the devices that are there, and set-user-ID programs. */
function bindOptions({ privileged }: ContainerSpec, propagation = "rprivate"): string[] {
  return ["rbind", propagation, ...(privileged ? [] : ["nosuid", "nodev"]), NOT_FOLLOWED];
}

function volumeOf(container: ContainerSpec, { target, source }: ImagePlacement["volumes"][number]): Mount {
  return { destination: target, source, type: "bind", options: [...bindOptions(container), "rw"] };
}

function bindOf(
  container: ContainerSpec,
  { target, readOnly, noExec, propagation }: MountSpec,
  { path, device, inode }: MountSource,
): Mount {
  const ofFile = bindOptions(container, propagation).map((option) =>
    option === NOT_FOLLOWED ? `${NOT_FOLLOWED}=${device}:${inode}` : option,
  );
  return { destination: target, source: path, type: "bind", options: [...ofFile, ...(noExec ? ["noexec"] : []), readOnly ? "rro" : "rw"] };
}
