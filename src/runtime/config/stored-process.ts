/** The settings of a process in the form in which the state record keeps them: JSON has no 64-bit integers. */
import type { CapabilitySets, ProcessConfig, SchedulerConfig } from "./types.ts";

type Times = "runtime" | "deadline" | "period";

interface StoredProcess extends Omit<ProcessConfig, "capabilities" | "rlimits" | "scheduler"> {
  readonly scheduler?: Omit<SchedulerConfig, Times> & Readonly<Record<Times, string>>;
  readonly capabilities?: Readonly<Record<keyof CapabilitySets, string>>;
  readonly rlimits: readonly { readonly type: string; readonly soft: string; readonly hard: string }[];
}

/** Without its arguments: each exec has its own. */
export function storeProcess({ capabilities, rlimits, scheduler, ...rest }: ProcessConfig): Readonly<Record<string, unknown>> {
  const stored: StoredProcess = {
    ...rest,
    args: [],
    ...(capabilities ? { capabilities: mapSets(capabilities, String) } : {}),
    ...(scheduler ? { scheduler: { ...scheduler, ...mapTimes(scheduler, String) } } : {}),
    rlimits: rlimits.map(({ type, soft, hard }) => ({ type, soft: String(soft), hard: String(hard) })),
  };
  return stored as unknown as Readonly<Record<string, unknown>>;
}

/** What storeProcess has made. */
export function restoreProcess(stored: Readonly<Record<string, unknown>>): ProcessConfig {
  const { capabilities, rlimits, scheduler, ...rest } = stored as unknown as StoredProcess;
  return {
    ...rest,
    ...(capabilities ? { capabilities: mapSets(capabilities, BigInt) } : {}),
    ...(scheduler ? { scheduler: { ...scheduler, ...mapTimes(scheduler, BigInt) } } : {}),
    rlimits: rlimits.map(({ type, soft, hard }, index) => ({
      type,
      soft: BigInt(soft),
      hard: BigInt(hard),
      from: `/process/rlimits/${index}`,
    })),
  };
}

function mapSets<A, B>(sets: Readonly<Record<keyof CapabilitySets, A>>, convert: (mask: A) => B): Record<keyof CapabilitySets, B> {
  const { bounding, effective, permitted, inheritable, ambient } = sets;
  return {
    bounding: convert(bounding),
    effective: convert(effective),
    permitted: convert(permitted),
    inheritable: convert(inheritable),
    ambient: convert(ambient),
  };
}

function mapTimes<A, B>({ runtime, deadline, period }: Readonly<Record<Times, A>>, convert: (time: A) => B): Record<Times, B> {
  return { runtime: convert(runtime), deadline: convert(deadline), period: convert(period) };
}
