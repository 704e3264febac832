/** Task files: their schema, checks and digest. Pure. */

export { dotted, numberOf, overlaps, rangeOf, without } from "./addresses.ts";
export { AUTO_UPDATE, updatePolicy } from "./auto-update.ts";
export { canonicalJson } from "./canonical.ts";
export { checkGroup } from "./check/group.ts";
export { checkMachine } from "./check/machine.ts";
export { RESERVED_ANNOTATIONS } from "./check/names.ts";
export { checkTask } from "./check/task.ts";
export { dependenciesOf, dependencyTarget } from "./dependencies.ts";
export { LARGEST_FILE, type ReadDocument, type ReadOptions, readDocuments } from "./documents.ts";
export { parseDuration } from "./duration.ts";
export { earlierDigest } from "./earlier.ts";
export { type Finding, type FindingCode, type Problem, pathOf, pointerOf, renderFinding } from "./finding.ts";
export { claimText, collide, hostPortOf, type PortClaim, portClaims } from "./host-port.ts";
export { type ImageBuild, type ImageBuildInput, imageBuild, isRemoteContext } from "./image/build.ts";
export { type ImageConfig, parseImageConfig } from "./image/config.ts";
export { type ImageReference, type ImageTransport, parseReference, pinned, renderReference } from "./image/reference.ts";
export { hasOwnNetwork, isJoinedEarly, namespacesOf } from "./namespaces.ts";
export { Numeral, Timestamp } from "./numeral.ts";
export { isPool, type ParsedFile, parsedFile, parseTasks, specDigest, taskJsonSchema, tasksIn, withPools } from "./parse.ts";
export { PULL_POLICIES, type PullPolicy } from "./pull-policy.ts";
export { DEFAULT_DRAIN_MS, type ReplicaPlace, type RolloutPolicy, replicaOf } from "./replica.ts";
export { placeholder, type ReplicaTemplate, replicaFrom, uuidOf, withTemplate } from "./replica-template.ts";
export { isMachineRuntime, machinesOf, RUNTIME_NAME, unknownRuntime } from "./runtimes.ts";
export { isTimeZone, type Rhythm, rhythmOf, runTime, runTimeLength, type ScheduleSpec, scheduleError } from "./schedule.ts";
export type { GrpcCheck, HealthCheck, Hook, HttpCheck, TcpCheck } from "./schema/check.ts";
export {
  type AgentSpec,
  CDI_NAME,
  CONDITIONS,
  type Condition,
  type ContainerSpec,
  type Dependency,
  type MountSpec,
  type RestartPolicy,
} from "./schema/container.ts";
export { FACILITIES, type ReceiverSpec, receiver as receiverSchema } from "./schema/log.ts";
export { type DnsSpec, hostName as hostNameSchema, type InterfaceSpec, type NetworkSpec, type PortMapping } from "./schema/network.ts";
export type { PoolInput, PoolSpec } from "./schema/pool.ts";
export { duration as durationSchema, size as sizeSchema } from "./schema/quantities.ts";
export { NAMESPACES, type Namespace, type TaskInput, type TaskSpec, task as taskSchema, type VolumeSpec } from "./schema/task.ts";
export { shapeProblems } from "./shape.ts";
export { appliedShares, warningsOf } from "./warnings.ts";
