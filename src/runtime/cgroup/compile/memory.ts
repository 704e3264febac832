import type { ResourceConfig } from "../../config/index.ts";
import { RuntError } from "../../errors/index.ts";
import type { Sink } from "./sink.ts";

type Memory = NonNullable<ResourceConfig["memory"]>;

const SWAP_POINTER = "/linux/resources/memory/swap";
const MAX_SWAPPINESS = 100n;

/** Clients written in Go send 0 for "not set". */
function asked(value: bigint | undefined): bigint | undefined {
  return value === 0n ? undefined : value;
}

/** The limit of memory and swap together. An unlimited memory means both, if swap is not given. */
function effectiveSwap({ limit, swap }: { readonly limit: bigint | undefined; readonly swap: bigint | undefined }): bigint | undefined {
  if (swap === undefined) return limit === -1n ? -1n : undefined;
  if (swap === -1n) return swap;
  if (limit === undefined) {
    throw new RuntError("config-invalid", "unable to set swap limit without memory limit", { pointer: SWAP_POINTER });
  }
  if (swap < limit) {
    throw new RuntError("config-invalid", `memory+swap limit should be >= memory limit: ${swap} < ${limit}`, { pointer: SWAP_POINTER });
  }
  return swap;
}

export function writeMemoryV1(sink: Sink, memory: Memory): void {
  const limit = asked(memory.limit);
  const swap = effectiveSwap({ limit, swap: asked(memory.swap) });
  const reservation = asked(memory.reservation);
  if (limit === -1n && swap !== undefined && swap !== -1n) {
    throw new RuntError("config-invalid", "memory+swap limit should be >= memory limit: the memory is unlimited", {
      pointer: SWAP_POINTER,
    });
  }
  if (memory.useHierarchy !== undefined) {
    sink.write("memory", "memory.use_hierarchy", memory.useHierarchy ? 1 : 0, "memory/useHierarchy");
  }
  // A new group is unlimited, so the smaller of the two (memory) goes first.
  if (limit !== undefined) sink.write("memory", "memory.limit_in_bytes", limit, "memory/limit");
  if (swap !== undefined) sink.write("memory", "memory.memsw.limit_in_bytes", swap, memory.swap ? "memory/swap" : "memory/limit");
  if (reservation !== undefined) sink.write("memory", "memory.soft_limit_in_bytes", reservation, "memory/reservation");
  if (memory.kernelTCP !== undefined) sink.write("memory", "memory.kmem.tcp.limit_in_bytes", memory.kernelTCP, "memory/kernelTCP");
  if (memory.disableOOMKiller) sink.write("memory", "memory.oom_control", 1, "memory/disableOOMKiller");
  if (memory.swappiness !== undefined) {
    if (memory.swappiness < 0n || memory.swappiness > MAX_SWAPPINESS) {
      throw new RuntError("config-invalid", `invalid memory swappiness value: ${memory.swappiness} (valid range is 0-100)`, {
        pointer: "/linux/resources/memory/swappiness",
      });
    }
    sink.write("memory", "memory.swappiness", memory.swappiness, "memory/swappiness");
  }
}

export function writeMemoryV2(sink: Sink, memory: Memory): void {
  const limit = asked(memory.limit);
  const swap = effectiveSwap({ limit, swap: asked(memory.swap) });
  const reservation = asked(memory.reservation);
  if (memory.kernelTCP !== undefined) sink.warn("memory/kernelTCP", "it has no effect: cgroup v2 counts buffers of TCP as memory");
  if (memory.disableOOMKiller) sink.refuse("memory/disableOOMKiller", "cgroup v2 cannot disable the OOM killer");
  if (memory.swappiness !== undefined) sink.refuse("memory/swappiness", "cgroup v2 has no swappiness of its own");
  if (memory.useHierarchy === false) sink.refuse("memory/useHierarchy", "cgroup v2 is always hierarchical");
  if (swap !== undefined) {
    // What is beside an unlimited memory is swap alone.
    const own = swap === -1n || limit === undefined || limit === -1n ? swap : swap - limit;
    sink.write("memory", "memory.swap.max", limitText(own), memory.swap ? "memory/swap" : "memory/limit");
  }
  if (limit !== undefined) sink.write("memory", "memory.max", limitText(limit), "memory/limit");
  if (reservation !== undefined) sink.write("memory", "memory.low", limitText(reservation), "memory/reservation");
}

export function limitText(value: bigint): string {
  return value < 0n ? "max" : String(value);
}
