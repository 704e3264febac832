/** Translates the limits of a service. Source: Compose specification, "cpus", "mem_limit", "ulimits"; Compose Deploy specification, "resources". */
import type { TaskInput } from "../../engine/spec/index.ts";
import { absolute } from "./paths.ts";
import type { ServicePlace } from "./place.ts";
import { bytesOf } from "./quantity.ts";
import type { ServiceInput } from "./schema.ts";

type Limits = Pick<
  TaskInput["containers"][number],
  | "cpus"
  | "cpuShares"
  | "cpuset"
  | "memory"
  | "memorySwap"
  | "memoryReservation"
  | "pids"
  | "rlimits"
  | "shmSize"
  | "rootSize"
  | "oomScoreAdj"
  | "blockIo"
>;

/** In microseconds: the period for cpu_quota without cpu_period. */
const PERIOD = 100_000;

/** Values that Compose refuses unless they are the same. Source: compose-go, loader/validate.go, checkConsistency. */
function checkSame(
  { deploy, scale, cpus, mem_limit: memory, mem_reservation: reserved, pids_limit: pids }: ServiceInput,
  { refuse }: ServicePlace,
): void {
  const { limits, reservations } = deploy?.resources ?? {};
  const size = (one: string | number = 0) => bytesOf(one);
  const differ = [
    ["cpus", "limits.cpus", cpus, limits && (limits.cpus ?? 0)],
    ["mem_limit", "limits.memory", size(memory), limits && size(limits.memory)],
    ["mem_reservation", "reservations.memory", size(reserved), reservations && size(reservations.memory)],
    ["pids_limit", "limits.pids", pids, limits && (limits.pids ?? 0)],
  ] as const;
  for (const [field, other, value, ofDeploy] of differ)
    if (value && ofDeploy !== undefined && value !== ofDeploy)
      refuse(`differs from deploy.resources.${other}: give one, or both the same`, [field]);
  if (scale !== undefined && deploy?.replicas !== undefined && scale !== deploy.replicas)
    refuse("differs from deploy.replicas: give one, or both the same", ["scale"]);
}

/** 0 means unlimited in all of these fields. */
export function limitsOf(service: ServiceInput, place: ServicePlace): Limits {
  checkSame(service, place);
  const { limits = {}, reservations = {} } = service.deploy?.resources ?? {};
  const quota = service.cpu_quota === undefined ? undefined : service.cpu_quota / (service.cpu_period || PERIOD);
  if (service.cpu_period !== undefined && service.cpu_quota === undefined) place.warn("has no effect without cpu_quota", ["cpu_period"]);
  const cpus = limits.cpus ?? service.cpus ?? quota;
  const size = (given: string | number | undefined) => (given === undefined ? 0 : bytesOf(given));
  const memory = size(limits.memory ?? service.mem_limit);
  if (service.oom_kill_disable) place.warn("has no effect, as with Docker on cgroup v2", ["oom_kill_disable"]);
  const given = {
    cpus,
    cpuShares: service.cpu_shares,
    memory,
    memoryReservation: size(reservations.memory ?? service.mem_reservation),
    pids: Math.max(0, limits.pids ?? service.pids_limit ?? 0),
    shmSize: size(service.shm_size),
    rootSize: size(service.storage_opt?.size),
  };
  return {
    ...(Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined && value > 0)) as Limits),
    ...swapOf(service, memory),
    ...(service.cpuset === undefined ? {} : { cpuset: service.cpuset }),
    ...(service.oom_score_adj === undefined ? {} : { oomScoreAdj: service.oom_score_adj }),
    ...blockIoOf(service, place),
    ...(service.ulimits === undefined ? {} : { rlimits: rlimitsOf(service.ulimits) }),
  };
}

const RATES = {
  device_read_bps: "readBps",
  device_write_bps: "writeBps",
  device_read_iops: "readIops",
  device_write_iops: "writeIops",
} as const;

/** Collects the limits of each device, which are in several lists of the service. */
function blockIoOf({ blkio_config: given }: ServiceInput, { directory }: ServicePlace): Pick<Limits, "blockIo"> {
  if (given === undefined) return {};
  const devices = new Map<string, Record<string, number>>();
  const say = (path: string, field: string, value: number) => {
    const device = absolute(directory, path);
    if (value !== 0) devices.set(device, { ...devices.get(device), [field]: value });
  };
  for (const { path, weight } of given.weight_device ?? []) say(path, "weight", weight);
  for (const [list, field] of Object.entries(RATES))
    for (const { path, rate } of given[list as keyof typeof RATES] ?? []) say(path, field, bytesOf(rate));
  const weight = given.weight ? { weight: given.weight } : {};
  const all = [...devices].map(([path, limits]) => ({ path, ...limits }));
  if (given.weight || all.length > 0) return { blockIo: { ...weight, ...(all.length === 0 ? {} : { devices: all }) } };
  return {};
}

/** Limit of memory and swap together. Without it, or with the same value as the limit of memory, a service has no swap. */
function swapOf({ memswap_limit: given }: ServiceInput, memory: number): Pick<Limits, "memorySwap"> {
  if (given === undefined) return {};
  const swap = Number(given) === -1 ? ("unlimited" as const) : bytesOf(given);
  return swap === 0 || swap === memory ? {} : { memorySwap: swap };
}

/** -1 means unlimited. */
function rlimitsOf(given: NonNullable<ServiceInput["ulimits"]>): NonNullable<Limits["rlimits"]> {
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => {
      const { soft, hard } = typeof value === "number" ? { soft: value, hard: value } : value;
      const limit = (one: number) => (one < 0 ? ("unlimited" as const) : one);
      return [name.toLowerCase(), { soft: limit(soft), hard: limit(hard) }];
    }),
  );
}
