/** What a bundle is to the engine above runt, and how large a machine would have to be for what it may use. */
import { cleanPath, pointerToken } from "../../spec/index.ts";
import { cpuList } from "../number-list.ts";
import type { ContainerConfig, MountConfig } from "../types.ts";
import { cpusOf, cpusOfPod, type Demand, type Machine, machineFor, toMiB, toNumber } from "./size.ts";

export interface Sandbox {
  /** single: no annotation says that it has to do with a pod. */
  readonly type: PodRole | "single";
  /** "containerd", "cri-o", "dockershim". */
  readonly manager?: string;
  /** Of the sandbox, which is a container itself where the manager makes one. */
  readonly id?: string;
  /** Of a sandbox and of a single container; a container of a pod has no part in it. */
  readonly size?: Size;
  readonly shm?: SharedMemory;
  /** JSON pointers. */
  readonly from: readonly string[];
}

export interface Size {
  /** Not rounded; 0: no limit. */
  readonly cpus: number;
  /** Rounded down; 0: no limit. */
  readonly memoryMiB: number;
  /** What these and a machine's own parts come to. */
  readonly machine: Machine;
  /** JSON pointers of what it was made from. */
  readonly from: readonly string[];
}

/** From here on, a limit of memory means none: the highest number in pages, and the like. */
const NO_LIMIT = 1n << 62n;

/** undefined: it has nothing to do with a pod, and asks for nothing that a machine would have to have. */
export function sandboxOf(config: ContainerConfig): Sandbox | undefined {
  const [typed] = findAll(config.annotations, "typeKey");
  const role = typed && roleOf(typed.value);
  if (typed === undefined || role === undefined) {
    const size = sizeOfContainer(config);
    return size && { type: "single", size, from: [] };
  }
  const [named] = findAll(config.annotations, "idKey");
  const shm = sharedMemory(config.mounts);
  const size = role === "sandbox" ? sizeOfPod(config) : undefined;
  return {
    type: role,
    manager: typed.manager.name,
    ...(named && { id: named.value }),
    ...(size && { size }),
    ...(shm && { shm }),
    from: [typed, ...(named ? [named] : [])].map(({ key }) => annotationPointer(key)),
  };
}

function annotationPointer(key: string): string {
  return `/annotations/${pointerToken(key)}`;
}

/** The annotations do not include the sandbox's own use. Without them the size of the pod is unknown. */
function sizeOfPod({ annotations }: ContainerConfig): Size | undefined {
  const given = SIZE_FIELDS.filter((field) => readSize(annotations, field) !== undefined);
  if (given.length === 0) return undefined;
  const read = (field: (typeof SIZE_FIELDS)[number]): bigint | undefined => {
    const value = readSize(annotations, field);
    return value === "bad" ? undefined : value;
  };
  const time = { quota: read("quota"), period: read("period"), shares: read("shares") };
  const demand = { cpus: cpusOfPod(time), cpuset: [], memory: limited(read("memory")) };
  return sizeOf(
    demand,
    given.map((field) => annotationPointer(sizeKey(field))),
  );
}

function sizeOfContainer({ resources: { cpu, memory, hugepageLimits } }: ContainerConfig): Size | undefined {
  const cpus = cpusOf(cpu ?? {});
  const cpuset = boundTo(cpu?.cpus ?? "");
  const plain = limited(memory?.limit);
  const huge = hugepageLimits.map(({ limit }) => limited(limit));
  const demand = { cpus, cpuset, memory: huge.reduce((total, limit) => total + limit, plain) };
  const from = [
    ...(cpus[0] > 0n ? ["cpu/quota", "cpu/period"] : cpuset.length > 0 ? ["cpu/cpus"] : []),
    ...(plain > 0n ? ["memory/limit"] : []),
    ...huge.flatMap((limit, index) => (limit > 0n ? [`hugepageLimits/${index}/limit`] : [])),
  ].map((field) => `/linux/resources/${field}`);
  return from.length === 0 ? undefined : sizeOf(demand, from);
}

/** The kernel takes forms of lists ("0-31:2/4") that are not counted here. */
function boundTo(cpus: string): readonly number[] {
  try {
    return cpuList(cpus, "");
  } catch {
    return [];
  }
}

function sizeOf(demand: Demand, from: readonly string[]): Size {
  return { cpus: toNumber(demand.cpus), memoryMiB: toMiB(demand.memory), machine: machineFor([demand]), from };
}

/** Bytes; 0: no limit. */
function limited(bytes: bigint | undefined): bigint {
  return bytes === undefined || bytes < 0n || bytes >= NO_LIMIT ? 0n : bytes;
}

/** bytes: of a tmpfs that says so. source: what is bound there; its size is that of its filesystem. */
type SharedMemory = { readonly bytes: number } | { readonly source: string };

/** tmpfs(5). A share of the memory ("size=50%") depends on the host, and is not known here. */
const SIZE = /^size=(\d{1,15})([kmgKMG]?)$/;
const UNITS: Readonly<Record<string, number>> = { "": 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30 };

/**
 * What is mounted at /dev/shm, which the containers of a pod share. undefined: nothing is mounted
 * there, or nothing says how large it is. The last mount is what programs see.
 */
function sharedMemory(mounts: readonly MountConfig[]): SharedMemory | undefined {
  const mount = mounts.findLast(({ target }) => cleanPath(target) === "/dev/shm");
  if (mount === undefined) return undefined;
  if (mount.kind === "bind") return { source: mount.source };
  if (mount.kind !== "filesystem" || mount.fstype !== "tmpfs") return undefined;
  const bytes = tmpfsBytes(mount.data);
  return bytes === undefined ? undefined : { bytes };
}

/** The size that options of a tmpfs give it; the last one counts. undefined: they give none in bytes. */
export function tmpfsBytes(options: readonly string[]): number | undefined {
  const [, number, unit = ""] = options.map((word) => SIZE.exec(word)).findLast((match) => match !== null) ?? [];
  return number === undefined ? undefined : Number(number) * (UNITS[unit.toLowerCase()] ?? 1);
}

const PREFIX = "io.kubernetes.cri.sandbox-";

const INT64 = [-(2n ** 63n), 2n ** 63n - 1n] as const;
const UINT64 = [0n, 2n ** 64n - 1n] as const;

/** Each with the least and the most that its type holds: those of linux.resources. */
const FIELDS = {
  /** Microseconds. */
  period: ["cpu-period", UINT64],
  /** Microseconds in each period; negative: no limit. */
  quota: ["cpu-quota", INT64],
  shares: ["cpu-shares", UINT64],
  /** Bytes; negative: no limit. */
  memory: ["memory", INT64],
} as const;

type SizeField = keyof typeof FIELDS;
export const SIZE_FIELDS = Object.keys(FIELDS) as readonly SizeField[];

/** How much the containers of a pod may use together, as containerd writes it on the pod's sandbox. */
export function sizeKey(field: SizeField): string {
  return PREFIX + FIELDS[field][0];
}

/** undefined: it is not there. "bad": no number that the field can hold. */
export function readSize(annotations: Annotations | null | undefined, field: SizeField): bigint | "bad" | undefined {
  const key = sizeKey(field);
  const text = annotations && Object.hasOwn(annotations, key) ? annotations[key] : undefined;
  if (text === undefined) return undefined;
  if (!/^[+-]?\d{1,20}$/.test(text)) return "bad";
  const value = BigInt(text.replace("+", ""));
  const [least, most] = FIELDS[field][1];
  return value < least || value > most ? "bad" : value;
}

/**
 * What a container is to the engine above it: the sandbox of a pod, a container in one, or neither. Three managers of Kubernetes say so in
 * annotations, each in its own.
 */

type PodRole = "sandbox" | "container";

interface Manager {
  readonly name: string;
  readonly typeKey: string;
  readonly idKey: string;
}

/** In the order in which they are looked for: the first whose annotation is there counts. */
export const MANAGERS: readonly Manager[] = [
  { name: "containerd", typeKey: "io.kubernetes.cri.container-type", idKey: "io.kubernetes.cri.sandbox-id" },
  { name: "cri-o", typeKey: "io.kubernetes.cri-o.ContainerType", idKey: "io.kubernetes.cri-o.SandboxID" },
  { name: "dockershim", typeKey: "io.kubernetes.docker.type", idKey: "io.kubernetes.sandbox.id" },
];

/** The words of all of them. */
const ROLES: Readonly<Record<string, PodRole>> = { sandbox: "sandbox", podsandbox: "sandbox", container: "container" };

type Annotations = Readonly<Record<string, string>>;

/** One of the annotations as it stands. */
interface Found {
  readonly manager: Manager;
  readonly key: string;
  readonly value: string;
}

/** undefined: a word that none of them uses. */
export function roleOf(word: string): PodRole | undefined {
  return Object.hasOwn(ROLES, word) ? ROLES[word] : undefined;
}

/** Every annotation that says what the container is (typeKey) or which sandbox it belongs to (idKey). */
export function findAll(annotations: Annotations | null | undefined, which: "typeKey" | "idKey"): readonly Found[] {
  return MANAGERS.flatMap((manager) => {
    const key = manager[which];
    const value = annotations && Object.hasOwn(annotations, key) ? annotations[key] : undefined;
    return value === undefined ? [] : [{ manager, key, value }];
  });
}
