/** Stats as runc prints them: the same keys in the same order; zeros and empty lists are left out where runc leaves them out. */
import type { BlockIOEntry, HugetlbStats, MemoryEntry, Pressure, Stats } from "./types.ts";

type Json = string | number | bigint | null | readonly Json[] | { readonly [key: string]: Json | undefined };
type Fields = Readonly<Record<string, Json | undefined>>;

export function statsJson({ cpu, cpuset, memory, pids, blkio, hugetlb }: Stats): string {
  const { usage, throttling } = cpu;
  return jsonText({
    cpu: {
      usage: {
        ...filled({ total: usage.total, percpu: usage.percpu, percpu_kernel: usage.percpuKernel, percpu_user: usage.percpuUser }),
        kernel: usage.kernel,
        user: usage.user,
      },
      throttling: filled({ ...throttling }),
      psi: pressureFields(cpu.psi),
    },
    cpuset: {
      ...filled({ cpus: cpuset.cpus }),
      cpu_exclusive: cpuset.cpuExclusive,
      ...filled({ mems: cpuset.mems }),
      mem_hardwall: cpuset.memHardwall,
      mem_exclusive: cpuset.memExclusive,
      memory_migrate: cpuset.memoryMigrate,
      memory_spread_page: cpuset.memorySpreadPage,
      memory_spread_slab: cpuset.memorySpreadSlab,
      memory_pressure: cpuset.memoryPressure,
      sched_load_balance: cpuset.schedLoadBalance,
      sched_relax_domain_level: cpuset.schedRelaxDomainLevel,
    },
    memory: {
      ...filled({ cache: memory.cache }),
      usage: memoryFields(memory.usage),
      swap: memoryFields(memory.swap),
      kernel: memoryFields(memory.kernel),
      kernelTCP: memoryFields(memory.kernelTCP),
      ...(Object.keys(memory.raw).length === 0 ? {} : { raw: sorted(memory.raw) }),
      psi: pressureFields(memory.psi),
    },
    pids: filled({ ...pids }),
    blkio: {
      ...filled({
        ioServiceBytesRecursive: blockIOFields(blkio.ioServiceBytes),
        ioServicedRecursive: blockIOFields(blkio.ioServiced),
        ioQueueRecursive: blockIOFields(blkio.ioQueued),
        ioServiceTimeRecursive: blockIOFields(blkio.ioServiceTime),
        ioWaitTimeRecursive: blockIOFields(blkio.ioWaitTime),
        ioMergedRecursive: blockIOFields(blkio.ioMerged),
        ioTimeRecursive: blockIOFields(blkio.ioTime),
        sectorsRecursive: blockIOFields(blkio.sectors),
      }),
      psi: pressureFields(blkio.psi),
    },
    hugetlb: sorted(Object.fromEntries(Object.entries(hugetlb).map(([size, entry]) => [size, hugetlbFields(entry)]))),
    intel_rdt: {},
    network_interfaces: null,
  });
}

function memoryFields({ limit, usage, max, failcnt }: MemoryEntry): Fields {
  return { limit, ...filled({ usage, max }), failcnt };
}

function hugetlbFields({ usage, max, failcnt }: HugetlbStats): Fields {
  return { ...filled({ usage, max }), failcnt };
}

function blockIOFields(entries: readonly BlockIOEntry[]): readonly Fields[] {
  return entries.map((entry) => filled({ ...entry }));
}

function pressureFields(psi: Pressure | undefined): Fields | undefined {
  return psi && { some: { ...psi.some }, full: { ...psi.full } };
}

/** Without what is zero or empty. */
function filled(fields: Fields): Fields {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== 0n && value !== "" && !(Array.isArray(value) && value.length === 0)),
  );
}

function sorted(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** JSON.stringify has no form for bigint. */
function jsonText(value: Json): string {
  if (typeof value === "bigint") return value.toString();
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(jsonText).join(",")}]`;
  const fields = Object.entries(value as Fields).flatMap(([key, field]) =>
    field === undefined ? [] : [`${JSON.stringify(key)}:${jsonText(field)}`],
  );
  return `{${fields.join(",")}}`;
}
