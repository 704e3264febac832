/// <reference types="node" preserve="true" />
/// <reference lib="esnext.disposable" preserve="true" />
/**
 * Containers for TypeScript programs: `Runtime` is a typed client of every verb of `runt`; `Executor` runs one program in a container of its own and
 * knows, whatever happens to this process, how it ended.
 */

// The references above are for the compiler of a program that uses these types. By default, TypeScript 7 takes no types of Node by itself.
export { CAPABILITIES } from "../shared/linux/index.ts";
export type { Claim, ClaimFile } from "../shared/protocol/index.ts";
export { makeDirectories } from "./directory.ts";
export type { RuntimeErrorCode } from "./errors.ts";
export { ExecutorError, type ExecutorErrorCode, ProgramError, type ProgramFailure, RuntimeError } from "./errors.ts";
export type { ExecHandle } from "./exec/handle.ts";
export type {
  ExecEnd,
  ExecRequest,
  ExecResult,
  FileStdio,
  OutputStdio,
  ProgramRequest,
  SpawnRequest,
  SpawnStdio,
} from "./exec/request.ts";
export { Executor } from "./executor.ts";
export { Fence, type FenceOptions } from "./fence/fence.ts";
export { slicePath } from "./launch/cgroup-place.ts";
export type * from "./launch/command.ts";
export { type LaunchContext, type OciConfig, toConfig } from "./launch/config.ts";
export { keepSpareFifos, type SpareOptions } from "./launch/fifos.ts";
export { deviceOf, type HostRights } from "./launch/privileged.ts";
export { defaultSeccomp, type ProfileFacts, plainSeccomp } from "./launch/seccomp.ts";
export type { User } from "./launch/user.ts";
export { resolveInRoot } from "./launch/user.ts";
export type { Adoption, ExecutorEntry } from "./list.ts";
export { Box, type BoxEnd, type BoxResult, type BoxState } from "./pool/box.ts";
export type { GivenProcess } from "./pool/claim.ts";
export type { BoxFile, PoolEvent, PoolFailure, PoolOptions, PoolStats, PoolTemplate, TakeRequest } from "./pool/options.ts";
export type { Outbound, SandboxNetwork } from "./pool/outbound/network.ts";
export { Pool } from "./pool/pool.ts";
export { type SandboxOptions, sandbox } from "./pool/sandbox.ts";
export { cgroupVersion, type Hierarchy, hierarchies } from "./process/cgroups.ts";
export { endCgroups, occupantsOf, type Place, placesOf } from "./process/end-cgroup.ts";
export type { ProcessUse } from "./process/table.ts";
export * from "./profile.ts";
export type { LogUse } from "./record.ts";
export { Runtime, type RuntimeOptions } from "./runtime/client.ts";
export { candidates, locateRuntime } from "./runtime/locate.ts";
export type * from "./runtime/types.ts";
export { signalName, signalNumber } from "./signals.ts";
export type { StatsStreamOptions } from "./stats/stream.ts";
export type { CgroupStats, CpuPercent, Pressure, PressureLine, Stats } from "./stats/types.ts";
export type {
  ExecutorEvent,
  ExecutorOptions,
  ExecutorState,
  ExecutorVersion,
  KnownCgroup,
  LaunchOptions,
  ProcessState,
  ShutdownPlan,
  ShutdownResult,
  UnknownCause,
} from "./types.ts";
export { LIBRARY_VERSION, PROTOCOL, type Protocol } from "./version.ts";
