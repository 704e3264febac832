/** What exec needs of a container's configuration, in the form in which the state record keeps it. */
import type { CapabilitySets, ContainerConfig, NamespaceType, ProcessConfig, SchedulerConfig } from "../config/types.ts";
import type { ExecRecord } from "../state/index.ts";

export function execRecord({ process, namespaces, seccomp, memoryPolicy, personality }: ContainerConfig, keyring: boolean): ExecRecord {
  const types: string[] = [];
  const joined: string[] = [];
  let ownMounts = false;
  for (const { type, path } of namespaces) {
    types.push(type);
    if (path !== undefined) joined.push(type);
    else ownMounts ||= type === "mount";
  }
  return {
    ...(process ? { process: storeProcess(process) } : {}),
    namespaces: types,
    ...(joined.length > 0 ? { joined } : {}),
    chroot: !ownMounts,
    keyring,
    ...(seccomp ? { seccomp } : {}),
    ...(memoryPolicy ? { memoryPolicy } : {}),
    ...(personality === undefined ? {} : { personality }),
  };
}

type Times = "runtime" | "deadline" | "period";

interface StoredProcess extends Omit<ProcessConfig, "capabilities" | "rlimits" | "scheduler"> {
  readonly scheduler?: Omit<SchedulerConfig, Times> & Readonly<Record<Times, string>>;
  readonly capabilities?: Readonly<Record<keyof CapabilitySets, string>>;
  readonly rlimits: readonly { readonly type: string; readonly soft: string; readonly hard: string }[];
}

/** JSON has no 64-bit integers. */
function storeProcess({ capabilities, rlimits, scheduler, ...rest }: ProcessConfig): Readonly<Record<string, unknown>> {
  const stored: StoredProcess = {
    ...rest,
    args: [],
    ...(capabilities ? { capabilities: mapSets(capabilities, String) } : {}),
    ...(scheduler ? { scheduler: { ...scheduler, ...mapTimes(scheduler, String) } } : {}),
    rlimits: rlimits.map(({ type, soft, hard }) => ({ type, soft: String(soft), hard: String(hard) })),
  };
  return stored as unknown as Readonly<Record<string, unknown>>;
}

function restoreProcess(stored: StoredProcess): ProcessConfig {
  const { capabilities, rlimits, scheduler, ...rest } = stored;
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

/** The settings of the container's own process; plain ones for a container that was made without a process. */
export function defaultProcess({ process }: ExecRecord): ProcessConfig {
  if (process) return restoreProcess(process as unknown as StoredProcess);
  return {
    terminal: false,
    consoleRows: 0,
    consoleColumns: 0,
    args: [],
    env: [],
    cwd: "/",
    uid: 0,
    gid: 0,
    additionalGids: [],
    umask: 0o022,
    noNewPrivileges: false,
    rlimits: [],
  };
}

export function namespaceTypes({ namespaces }: ExecRecord): readonly NamespaceType[] {
  return namespaces as readonly NamespaceType[];
}
