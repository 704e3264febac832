/**
 * A task: several containers below one cgroup with limits of its own (the task-level cgroups of Amazon ECS). Names the parent on
 * cgroupfs (v1 and v2) and with systemd, and says what it may use, as linux.resources. Pure.
 */
import { HIGHEST_SHARES, LOWEST_SHARES } from "../../shared/linux/index.ts";
import { RuntError } from "../errors/index.ts";
import type { CgroupMode } from "./parent.ts";

export interface TaskContainer {
  readonly name: string;
  /** Relative weight (cpu.shares); 0 or absent: the least. */
  readonly cpuShares?: bigint;
  /** MiB. */
  readonly memory?: bigint;
}

export interface Task {
  /** Processors the task may use together, 0.25 for a quarter; 0 or absent: none is named, the weights of its containers are summed. */
  readonly cpus?: number;
  /** MiB; 0 or absent: unlimited. */
  readonly memory?: bigint;
  /** 0 or absent: unlimited. */
  readonly pids?: bigint;
  readonly containers: readonly TaskContainer[];
}

/** linux.resources of the task's own cgroup. */
export interface TaskResources {
  readonly cpu: { readonly quota: bigint; readonly period: bigint } | { readonly shares: bigint };
  readonly memory?: { readonly limit: bigint };
  readonly pids?: { readonly limit: bigint };
}

const DEFAULT_PERIOD = 100_000n;
/** The kernel's least quota. */
const LOWEST_QUOTA = 1000n;
const MIB = 1n << 20n;
const HIGHEST_BYTES = (1n << 63n) - 1n;
const LONGEST_ID = 128;
/** NAME_MAX of a cgroup directory, UNIT_NAME_MAX of systemd. */
const LONGEST_NAME = 255;

/**
 * The parent of a task's containers: /PREFIX/ID, or for systemd the slice PREFIX-ID.slice, in which a dash of the id is escaped so that
 * it makes no deeper level. The id is the last part of the task's identifier ("cluster/0123abc").
 * @throws RuntError usage for an identifier that is none
 */
export function taskParent(prefix: string, identifier: string, mode: CgroupMode): string {
  const id = taskId(identifier);
  if (mode === "cgroupfs") return `/${prefix}/${id}`;
  const slice = `${prefix}-${id.replaceAll("-", "\\x2d")}.slice`;
  if (slice.length > LONGEST_NAME) throw malformed(identifier);
  return slice;
}

function taskId(identifier: string): string {
  const parts = identifier.split("/");
  const id = parts.at(-1) ?? "";
  const isSound = parts.every((part) => /^[A-Za-z0-9_.:-]+$/.test(part) && !/^\.+$/.test(part));
  if (!isSound || id.length > LONGEST_ID || id.includes(":")) throw malformed(identifier);
  return id;
}

function malformed(identifier: string): RuntError {
  return new RuntError("usage", `malformed task identifier: ${JSON.stringify(identifier.slice(0, LONGEST_ID))}`);
}

/**
 * What the containers of a task share.
 * @param period of the quota, in microseconds
 * @throws RuntError config-invalid, for memory with both numbers in MiB
 */
export function taskResources(task: Task, period = DEFAULT_PERIOD): TaskResources {
  return {
    cpu: task.cpus ? quota(task.cpus, period) : { shares: sumOfShares(task.containers) },
    ...(task.memory ? { memory: { limit: memoryLimit(task.memory, task.containers) } } : {}),
    ...(task.pids ? { pids: { limit: task.pids } } : {}),
  };
}

function quota(cpus: number, period: bigint): { readonly quota: bigint; readonly period: bigint } {
  const microseconds = Number.isFinite(cpus) && cpus > 0 ? BigInt(Math.trunc(cpus * Number(period))) : 0n;
  if (microseconds < LOWEST_QUOTA) {
    throw new RuntError("config-invalid", `task CPU limit of ${cpus} is below the least, ${Number(LOWEST_QUOTA) / Number(period)}`);
  }
  return { quota: microseconds, period };
}

function sumOfShares(containers: readonly TaskContainer[]): bigint {
  const sum = containers.reduce((total, { cpuShares = 0n }) => total + (cpuShares > LOWEST_SHARES ? cpuShares : LOWEST_SHARES), 0n);
  return clampShares(sum).applied;
}

function memoryLimit(memory: bigint, containers: readonly TaskContainer[]): bigint {
  const above = containers.find((container) => (container.memory ?? 0n) > memory);
  if (above !== undefined) {
    throw new RuntError(
      "config-invalid",
      `container ${above.name}: memory limit of ${above.memory} MiB is above the task's limit of ${memory} MiB`,
    );
  }
  if (memory < 0n || memory * MIB > HIGHEST_BYTES) throw new RuntError("config-invalid", `task memory limit of ${memory} MiB is no size`);
  return memory * MIB;
}

/** The shares of one container as they can be applied: 0, which would mean the kernel's default of 1024, is the least instead. */
export function clampShares(requested: bigint): { readonly requested: bigint; readonly applied: bigint } {
  if (requested < LOWEST_SHARES) return { requested, applied: LOWEST_SHARES };
  if (requested > HIGHEST_SHARES) return { requested, applied: HIGHEST_SHARES };
  return { requested, applied: requested };
}
