import type { Integer, SpecResources } from "../../spec/index.ts";
import type { Check } from "../finding.ts";

const RESOURCES = "/linux/resources";
/** Documentation/scheduler/sched-bwc: 1 ms to 1 s, in microseconds. */
const SHORTEST = 1000n;
const LONGEST = 1_000_000n;

const asked = (value: Integer | null | undefined): bigint | undefined => (value ? BigInt(value) : undefined);

/** config-linux, cpu: quota and period are times that the kernel takes. */
export const bandwidth: Check = ({ linux }, report) => {
  const [quota, period] = [asked(linux?.resources?.cpu?.quota), asked(linux?.resources?.cpu?.period)];
  if (quota !== undefined && quota > 0n && quota < SHORTEST)
    report.error("cpu-quota", `${RESOURCES}/cpu/quota`, `cpu.quota: ${quota} microseconds are below the kernel's least, ${SHORTEST}`);
  if (quota !== undefined && quota < -1n)
    report.advice("cpu-quota-negative", `${RESOURCES}/cpu/quota`, `cpu.quota: ${quota} is taken as unlimited`, "write -1");
  if (period !== undefined && (period < SHORTEST || period > LONGEST))
    report.error("cpu-period", `${RESOURCES}/cpu/period`, `cpu.period: ${period} microseconds are not between ${SHORTEST} and ${LONGEST}`);
};

/** Documentation/scheduler/sched-rt-group: runtime is a part of the period, whose default is a second. */
export const realtime: Check = ({ linux }, report) => {
  const { realtimeRuntime, realtimePeriod } = linux?.resources?.cpu ?? {};
  const [runtime, period] = [asked(realtimeRuntime), asked(realtimePeriod) ?? LONGEST];
  if (runtime !== undefined && (runtime < -1n || runtime > period))
    report.error("cpu-realtime", `${RESOURCES}/cpu/realtimeRuntime`, `cpu.realtimeRuntime: ${runtime} is no part of the period, ${period}`);
};

/** config-linux, cpu: idle is a switch. */
export const idleGroup: Check = ({ linux }, report) => {
  const idle = linux?.resources?.cpu?.idle;
  if (idle && idle !== 1) report.error("cpu-idle", `${RESOURCES}/cpu/idle`, `cpu.idle: ${idle} is neither 0 nor 1`);
};

/** Below this the kernel kills init itself; a small static program runs in a little more. Measured on cgroup v1, Linux 6. */
const LEAST_MEMORY = 32n * 1024n;
const LITTLE_MEMORY = 512n * 1024n;
const PAGE = 4096n;
const MEMORY_FIELDS = ["limit", "reservation", "swap"] as const;

/** config-linux, memory: a limit in which something can run, in whole pages, because the kernel rounds down. */
export const memorySizes: Check = ({ linux }, report) => {
  const memory = linux?.resources?.memory;
  const limit = asked(memory?.limit);
  const pointer = `${RESOURCES}/memory/limit`;
  const remedy = "the unit is bytes; 67108864 is 64 MiB";
  if (limit !== undefined && limit > 0n && limit < LEAST_MEMORY)
    report.error("memory-tiny", pointer, `memory.limit: in ${limit} bytes no container can start`, remedy);
  else if (limit !== undefined && limit > 0n && limit < LITTLE_MEMORY)
    report.warning("memory-small", pointer, `memory.limit: in ${limit} bytes hardly any program can run`, remedy);
  for (const field of MEMORY_FIELDS) {
    const value = asked(memory?.[field]);
    if (value === undefined || value < LITTLE_MEMORY || value % PAGE === 0n) continue;
    report.advice(
      "memory-unaligned",
      `${RESOURCES}/memory/${field}`,
      `memory.${field}: ${value} is no multiple of the page size, the kernel makes it ${value - (value % PAGE)}`,
    );
  }
};

/** config-linux, memory: a reservation above the limit never counts. */
export const reservation: Check = ({ linux }, report) => {
  const memory = linux?.resources?.memory;
  const [limit, reserved] = [asked(memory?.limit), asked(memory?.reservation)];
  if (limit !== undefined && reserved !== undefined && limit > 0n && reserved > limit)
    report.warning("memory-reservation", `${RESOURCES}/memory/reservation`, `memory.reservation: ${reserved} is above the limit, ${limit}`);
};

/** Run by init, in the cgroup of the container. */
export const HOOKS_OF_INIT = ["createContainer", "startContainer"] as const;

/** The kernel's PID_MAX_LIMIT on 64 bit machines (linux/threads.h). */
const MOST_PIDS = 4_194_304;

/** config-linux, pids: the program itself is one. */
export const pidsLimit: Check = ({ hooks, linux }, report) => {
  const limit = linux?.resources?.pids?.limit;
  if (limit === null || limit === undefined) return;
  // With a hook that init starts it is an error of the host's cgroups.
  const isFew = (limit === 0 || limit === 1) && !HOOKS_OF_INIT.some((kind) => hooks?.[kind]?.length);
  if (isFew)
    report.warning("pids-low", `${RESOURCES}/pids/limit`, `pids.limit: with ${limit} the program can start no other one, and no thread`);
  else if (limit < -1) report.advice("pids-negative", `${RESOURCES}/pids/limit`, `pids.limit: ${limit} is taken as unlimited`, "write -1");
  else if (limit > MOST_PIDS)
    report.error("pids-high", `${RESOURCES}/pids/limit`, `pids.limit: ${limit} is above what the kernel takes, ${MOST_PIDS}`);
};

const UNITS: Readonly<Record<string, bigint>> = { K: 1n << 10n, M: 1n << 20n, G: 1n << 30n, T: 1n << 40n };

/** config-linux, huge pages: whole pages, because the kernel rounds down. */
export const hugepageMultiples: Check = ({ linux }, report) => {
  linux?.resources?.hugepageLimits?.forEach(({ pageSize, limit }, index) => {
    const [, count, unit] = /^([1-9][0-9]*)([KMGT])B$/.exec(pageSize) ?? [];
    if (count === undefined || unit === undefined) return;
    const size = BigInt(count) * (UNITS[unit] ?? 1n);
    if (BigInt(limit) % size !== 0n)
      report.warning(
        "hugepage-multiple",
        `${RESOURCES}/hugepageLimits/${index}/limit`,
        `hugepageLimits: ${limit} is no multiple of ${pageSize}, the kernel rounds it down`,
      );
  });
};

const THROTTLES = ["throttleReadBpsDevice", "throttleWriteBpsDevice", "throttleReadIOPSDevice", "throttleWriteIOPSDevice"] as const;

/** Every entry of the four lists. */
export function eachThrottle(
  resources: SpecResources | null | undefined,
  visit: (device: { readonly major: Integer; readonly minor: Integer; readonly rate: Integer }, pointer: string) => void,
): void {
  for (const field of THROTTLES) {
    resources?.blockIO?.[field]?.forEach((device, index) => {
      visit(device, `${RESOURCES}/blockIO/${field}/${index}`);
    });
  }
}

/** config-linux, block IO: to cgroup v1 a rate of 0 means no limit, v2 refuses it. */
export const throttleRates: Check = ({ linux }, report) =>
  eachThrottle(linux?.resources, ({ rate }, pointer) => {
    if (rate === 0)
      report.warning("throttle-zero", `${pointer}/rate`, "blockIO: a rate of 0 is no limit at all on cgroup v1, and refused on v2");
  });
