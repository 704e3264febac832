/** cgroup v1 (Documentation/admin-guide/cgroup-v1). */
import { TICKS_PER_SECOND } from "../process/table.ts";
import { blkio, keyed, present, single } from "./parse.ts";
import type { CgroupStats, ReadFile } from "./types.ts";

const US_PER_TICK = 1_000_000 / TICKS_PER_SECOND;
/** "No limit" is the highest number of bytes in whole pages. */
const UNLIMITED = 2 ** 60;

export function statsV1(read: ReadFile): CgroupStats {
  const cpu = keyed(read("cpu", "cpu.stat"));
  const times = keyed(read("cpuacct", "cpuacct.stat"));
  const memory = keyed(read("memory", "memory.stat"));
  const limit = single(read("memory", "memory.limit_in_bytes"));
  const bytes = read("blkio", "blkio.throttle.io_service_bytes_recursive") ?? read("blkio", "blkio.throttle.io_service_bytes");
  const operations = read("blkio", "blkio.throttle.io_serviced_recursive") ?? read("blkio", "blkio.throttle.io_serviced");
  return {
    cpu: present({
      usageUs: microseconds(single(read("cpuacct", "cpuacct.usage"))),
      userUs: scaled(times.get("user"), US_PER_TICK),
      systemUs: scaled(times.get("system"), US_PER_TICK),
      periods: cpu.get("nr_periods"),
      throttledPeriods: cpu.get("nr_throttled"),
      throttledUs: microseconds(cpu.get("throttled_time")),
    }),
    memory: present({
      rssBytes: memory.get("total_rss") ?? memory.get("rss"),
      cacheBytes: memory.get("total_cache") ?? memory.get("cache"),
      swapBytes: memory.get("total_swap") ?? memory.get("swap"),
      usageBytes: single(read("memory", "memory.usage_in_bytes")),
      maxUsageBytes: single(read("memory", "memory.max_usage_in_bytes")),
      kernelBytes: single(read("memory", "memory.kmem.usage_in_bytes")),
      kernelMaxBytes: single(read("memory", "memory.kmem.max_usage_in_bytes")),
      limitBytes: limit !== undefined && limit < UNLIMITED ? limit : undefined,
      oomKills: keyed(read("memory", "memory.oom_control")).get("oom_kill"),
    }),
    pids: present({ current: single(read("pids", "pids.current")), limit: single(read("pids", "pids.max")) }),
    io: present({
      readBytes: blkio(bytes, "Read"),
      writeBytes: blkio(bytes, "Write"),
      readOperations: blkio(operations, "Read"),
      writeOperations: blkio(operations, "Write"),
    }),
    pressure: {},
  };
}

function scaled(value: number | undefined, factor: number): number | undefined {
  return value === undefined ? undefined : value * factor;
}

/** Nanoseconds -> microseconds. */
function microseconds(nanoseconds: number | undefined): number | undefined {
  return nanoseconds === undefined ? undefined : Math.floor(nanoseconds / 1000);
}
