/** The `process` object -> ProcessConfig. Used for config.json and for the process document of exec. */
import type { SpecProcess } from "../spec/index.ts";
import { deriveCapabilities } from "./capabilities.ts";
import { deriveEnv } from "./env.ts";
import { cpuList } from "./number-list.ts";
import { deriveIoPriority, deriveScheduler } from "./policies.ts";
import type { ProcessConfig, Rlimit } from "./types.ts";
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
