/**
 * How large a machine has to be that containers fit in. Sums are exact fractions: rounding is done once, upwards, after the sum, so that
 * two halves are one CPU and three thirds are not two.
 */

/** What one container, or all of a pod, may use. */
export interface Demand {
  /** CPU time: numerator and positive denominator. 0/1: no limit. */
  readonly cpus: Fraction;
  /** Numbers of the CPUs that it is bound to; none: all. */
  readonly cpuset: readonly number[];
  /** Bytes; 0: no limit. */
  readonly memory: bigint;
}

export type Fraction = readonly [numerator: bigint, denominator: bigint];

export interface Machine {
  readonly vcpus: number;
  readonly memoryMiB: number;
}

/** What a machine has for itself: the defaults of Kata Containers. */
export const OWN: Machine = { vcpus: 1, memoryMiB: 2048 };

const MIB = 2n ** 20n;
/** cpu.shares of one CPU, as Kubernetes counts. */
const SHARES_OF_A_CPU = 1024n;
const NOTHING: Fraction = [0n, 1n];

interface CpuTime {
  /** Microseconds in each period; negative: no limit. */
  readonly quota?: bigint | undefined;
  readonly period?: bigint | undefined;
  readonly shares?: bigint | undefined;
}

/** A limit of CPU time in CPUs: nothing unless both are given. */
export function cpusOf({ quota, period }: CpuTime): Fraction {
  return quota === undefined || !period || quota <= 0n ? NOTHING : [quota, period];
}

/** For a pod: shares count where there is expressly no quota. A quota of 0 counts as not set. */
export function cpusOfPod(time: CpuTime): Fraction {
  const { quota = 0n, shares = 0n } = time;
  return quota < 0n && shares > 0n ? [ceil([shares, SHARES_OF_A_CPU]), 1n] : cpusOf(time);
}

export function toNumber([numerator, denominator]: Fraction): number {
  return Number(numerator) / Number(denominator);
}

export function toMiB(bytes: bigint): number {
  return Number(bytes / MIB);
}

/** CPUs that containers are bound to count where none of them has a limit of CPU time. */
export function machineFor(demands: readonly Demand[], own: Machine = OWN): Machine {
  const time = demands.map(({ cpus }) => cpus).reduce(sum, NOTHING);
  const bound = new Set(demands.flatMap(({ cpuset }) => cpuset)).size;
  const vcpus = ceil(time[0] > 0n ? time : [BigInt(bound), 1n]) + BigInt(own.vcpus);
  const memory = demands.reduce((total, demand) => total + demand.memory, 0n);
  return { vcpus: Math.max(1, Number(vcpus)), memoryMiB: own.memoryMiB + toMiB(memory) };
}

function sum([a, b]: Fraction, [c, d]: Fraction): Fraction {
  return [a * d + c * b, b * d];
}

/** Of what is not negative. */
function ceil([numerator, denominator]: Fraction): bigint {
  return (numerator + denominator - 1n) / denominator;
}
