/** The `process` object -> ProcessConfig. Used for config.json and for the process document of exec. */
import {
  IO_PRIORITY_CLASSES,
  MEMORY_POLICY_FLAGS,
  MEMORY_POLICY_MODES,
  PERSONALITY_DOMAINS,
  SCHEDULER_FLAGS,
  SCHEDULER_POLICIES,
} from "../../shared/linux/index.ts";
import { RuntError } from "../errors/index.ts";
import type { SpecLinux, SpecProcess } from "../spec/index.ts";
import { deriveCapabilities } from "./capabilities.ts";
import { cpuList, policyNodeList } from "./number-list.ts";
import type { CapabilitySets, IoPriority, MemoryPolicy, ProcessConfig, Rlimit, SchedulerConfig } from "./types.ts";
import type { Warn } from "./warnings.ts";

/** What runc and crun use when process.user.umask is absent, and what images in the field are built for. */
const DEFAULT_UMASK = 0o022;

/** `pointer` is where the object stands: "/process", or "" for a document of its own. */
export function deriveProcess(process: SpecProcess, pointer: string, warn: Warn): ProcessConfig {
  const user = process.user;
  const terminal = process.terminal === true;
  const capabilities = deriveCapabilities(process.capabilities, `${pointer}/capabilities`, warn);
  return {
    terminal,
    consoleRows: terminal ? (process.consoleSize?.height ?? 0) : 0,
    consoleColumns: terminal ? (process.consoleSize?.width ?? 0) : 0,
    args: process.args ?? [],
    env: deriveEnv(process.env ?? [], `${pointer}/env`, warn),
    cwd: process.cwd,
    uid: user?.uid ?? 0,
    gid: user?.gid ?? 0,
    additionalGids: user?.additionalGids ?? [],
    umask: user?.umask ?? DEFAULT_UMASK,
    ...(capabilities !== undefined && { capabilities }),
    noNewPrivileges: process.noNewPrivileges === true,
    rlimits: deriveRlimits(process.rlimits ?? [], `${pointer}/rlimits`),
    ...(process.apparmorProfile && { apparmorProfile: process.apparmorProfile }),
    ...(process.selinuxLabel && { selinuxLabel: process.selinuxLabel }),
    ...(process.scheduler && { scheduler: deriveScheduler(process.scheduler) }),
    ...(process.ioPriority && { ioPriority: deriveIoPriority(process.ioPriority) }),
    ...(process.execCPUAffinity && { execAffinity: deriveAffinity(process.execCPUAffinity, `${pointer}/execCPUAffinity`) }),
    ...(typeof process.oomScoreAdj === "number" && { oomScoreAdj: process.oomScoreAdj }),
  };
}

function deriveAffinity(
  { initial, final }: NonNullable<SpecProcess["execCPUAffinity"]>,
  pointer: string,
): NonNullable<ProcessConfig["execAffinity"]> {
  return { initial: cpuList(initial ?? "", `${pointer}/initial`), final: cpuList(final ?? "", `${pointer}/final`) };
}

function deriveRlimits(rlimits: NonNullable<SpecProcess["rlimits"]>, pointer: string): readonly Rlimit[] {
  return rlimits.map(({ type, soft, hard }, index) => ({ from: `${pointer}/${index}`, type, soft: BigInt(soft), hard: BigInt(hard) }));
}

function refuse(reason: string, pointer: string): RuntError {
  return new RuntError("config-invalid", `invalid environment variable: ${reason}`, { pointer, finding: "env-syntax" });
}

/** The name of one entry. @throws RuntError config-invalid */
export function envName(entry: string, at: string): string {
  const equals = entry.indexOf("=");
  if (equals === -1) throw refuse(`"${entry}" has no "="`, at);
  if (equals === 0) throw refuse(`"${entry}" has no name`, at);
  const name = entry.slice(0, equals);
  if (entry.includes("\0")) throw refuse(`"${name}" contains a NUL byte`, at);
  return name;
}

/**
 * process.env: every entry NAME=value, one entry a name. Of entries with the same name the last one
 * wins, at its own place, as execve's callers see it.
 */
export function deriveEnv(env: readonly string[], pointer: string, warn: Warn): readonly string[] {
  const last = new Map<string, number>();
  for (let index = 0; index < env.length; index++) {
    const at = `${pointer}/${index}`;
    const name = envName(env[index] as string, at);
    if (last.has(name)) warn("env-duplicate", at, `environment variable "${name}" is set more than once, the last one wins`);
    last.set(name, index);
  }
  return last.size === env.length ? env : env.filter((entry, index) => last.get(entry.slice(0, entry.indexOf("="))) === index);
}

type Times = "runtime" | "deadline" | "period";

interface StoredProcess extends Omit<ProcessConfig, "capabilities" | "rlimits" | "scheduler"> {
  readonly scheduler?: Omit<SchedulerConfig, Times> & Readonly<Record<Times, string>>;
  readonly capabilities?: Readonly<Record<keyof CapabilitySets, string>>;
  readonly rlimits: readonly { readonly type: string; readonly soft: string; readonly hard: string }[];
}

/**
 * The settings of a process in the form in which the state record keeps them: JSON has no 64-bit
 * integers. Without its arguments: each exec has its own.
 */
export function storeProcess({ capabilities, rlimits, scheduler, ...rest }: ProcessConfig): Readonly<Record<string, unknown>> {
  const stored: StoredProcess = {
    ...rest,
    args: [],
    ...(capabilities && { capabilities: mapSets(capabilities, String) }),
    ...(scheduler && { scheduler: { ...scheduler, ...mapTimes(scheduler, String) } }),
    rlimits: rlimits.map(({ type, soft, hard }) => ({ type, soft: String(soft), hard: String(hard) })),
  };
  return stored as unknown as Readonly<Record<string, unknown>>;
}

/** What storeProcess has made. */
export function restoreProcess(stored: Readonly<Record<string, unknown>>): ProcessConfig {
  const { capabilities, rlimits, scheduler, ...rest } = stored as unknown as StoredProcess;
  return {
    ...rest,
    ...(capabilities && { capabilities: mapSets(capabilities, BigInt) }),
    ...(scheduler && { scheduler: { ...scheduler, ...mapTimes(scheduler, BigInt) } }),
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

type Names = Readonly<Record<string, number>>;

/**
 * Scheduler, I/O priority, NUMA memory policy and personality: names to numbers. The checks have seen
 * to it that they are known.
 */
export function deriveScheduler(scheduler: NonNullable<SpecProcess["scheduler"]>): SchedulerConfig {
  return {
    policy: numberOf(SCHEDULER_POLICIES, scheduler.policy),
    flags: flagsOf(SCHEDULER_FLAGS, scheduler.flags),
    nice: scheduler.nice ?? 0,
    priority: scheduler.priority ?? 0,
    runtime: BigInt(scheduler.runtime ?? 0),
    deadline: BigInt(scheduler.deadline ?? 0),
    period: BigInt(scheduler.period ?? 0),
  };
}

export function deriveIoPriority(ioPriority: NonNullable<SpecProcess["ioPriority"]>): IoPriority {
  return { class: numberOf(IO_PRIORITY_CLASSES, ioPriority.class), priority: Number(ioPriority.priority ?? 0) };
}

/** @throws RuntError "config-invalid" for nodes that are no list */
export function deriveMemoryPolicy({ mode, nodes, flags }: NonNullable<SpecLinux["memoryPolicy"]>): MemoryPolicy {
  return {
    mode: numberOf(MEMORY_POLICY_MODES, mode),
    flags: flagsOf(MEMORY_POLICY_FLAGS, flags),
    nodes: policyNodeList(nodes ?? ""),
  };
}

/** PER_* of the domain. */
export function derivePersonality({ domain }: NonNullable<SpecLinux["personality"]>): number {
  return numberOf(PERSONALITY_DOMAINS, domain);
}

function numberOf(names: Names, name: string | null | undefined): number {
  const number = names[name ?? ""];
  if (number === undefined) throw new TypeError(`${name} was not checked`);
  return number;
}

function flagsOf(names: Names, flags: readonly string[] | null | undefined): number {
  return (flags ?? []).reduce((sum, flag) => sum | numberOf(names, flag), 0);
}
