/** cgroup v2 (Documentation/admin-guide/cgroup-v2.rst). */
import { ioStat, keyed, present, pressure, single } from "./parse.ts";
import type { CgroupStats, ReadFile } from "./types.ts";

export function statsV2(read: ReadFile): CgroupStats {
  const cpu = keyed(read("cpu", "cpu.stat"));
  const memory = keyed(read("memory", "memory.stat"));
  const io = read("io", "io.stat");
  return {
    cpu: present({
      usageUs: cpu.get("usage_usec"),
      userUs: cpu.get("user_usec"),
      systemUs: cpu.get("system_usec"),
      periods: cpu.get("nr_periods"),
      throttledPeriods: cpu.get("nr_throttled"),
      throttledUs: cpu.get("throttled_usec"),
    }),
    memory: present({
      rssBytes: memory.get("anon"),
      cacheBytes: memory.get("file"),
      swapBytes: single(read("memory", "memory.swap.current")),
      usageBytes: single(read("memory", "memory.current")),
      maxUsageBytes: single(read("memory", "memory.peak")),
      kernelBytes: memory.get("kernel"),
      limitBytes: single(read("memory", "memory.max")),
      oomKills: keyed(read("memory", "memory.events")).get("oom_kill"),
    }),
    pids: present({ current: single(read("pids", "pids.current")), limit: single(read("pids", "pids.max")) }),
    io: present({
      readBytes: ioStat(io, "rbytes"),
      writeBytes: ioStat(io, "wbytes"),
      readOperations: ioStat(io, "rios"),
      writeOperations: ioStat(io, "wios"),
    }),
    pressure: present({
      cpu: pressure(read("cpu", "cpu.pressure")),
      memory: pressure(read("memory", "memory.pressure")),
      io: pressure(read("io", "io.pressure")),
    }),
  };
}
