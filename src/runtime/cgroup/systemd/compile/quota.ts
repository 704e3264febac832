/** CPU quotas: systemd has whole percents of a CPU, the kernel microseconds a period. */
import { type Property, property } from "./property.ts";
import type { Version } from "./version.ts";

const SECOND = 1_000_000n;
const PERCENT = 10_000n;
const DEFAULT_PERIOD = 100_000n;
/** USEC_INFINITY. */
const INFINITY = (1n << 64n) - 1n;
/** CPUQuotaPeriodUSec is new in this version. */
const PERIODS = 242;

export interface Quota {
  readonly properties: readonly Property[];
  /** What the kernel is given: the quota rounded up as systemd rounds it, so that a reload changes nothing. */
  readonly quota: bigint;
}

/** Microseconds; quota <= 0 is unlimited. */
export function cpuQuota(quota: bigint, period: bigint, systemd: Version): Quota {
  const each = period > 0n ? period : DEFAULT_PERIOD;
  const perSecond = quota > 0n ? roundUp((quota * SECOND) / each) : INFINITY;
  return {
    properties: [
      ...(systemd() >= PERIODS ? [property("CPUQuotaPeriodUSec", "t", each)] : []),
      property("CPUQuotaPerSecUSec", "t", perSecond),
    ],
    quota: quota > 0n ? (perSecond * each) / SECOND : quota,
  };
}

function roundUp(microseconds: bigint): bigint {
  return ((microseconds + PERCENT - 1n) / PERCENT) * PERCENT;
}
