/** A reason is a chain that leads from a state to the first observation that caused it. */

export type ReasonCode =
  | "StoppedByUser"
  | "EssentialContainerExited"
  | "ContainerExited"
  | "ContainerVanished"
  | "RecordsLost"
  | "ExitUnknown"
  | "OutOfMemory"
  | "HostRebooted"
  | "TaskStopped"
  | "PullFailed"
  | "StoppedBeforePull"
  | "CreateFailed"
  | "StartFailed"
  | "ResourceFailed"
  | "CheckFailed"
  | "Evicted"
  | "DeadlineExceeded"
  | "DependencyFailed"
  | "DependencyTimeout"
  | "LedgerError"
  | "StopFailed"
  | "Replaced"
  | "ScaledDown"
  | "ReplicaFailed"
  | "RolloutFailed"
  | "NotNeeded"
  | "ProxyFailed"
  | "Orphan"
  | "StateCopied";

export interface Reason {
  readonly code: ReasonCode;
  /** Text for users, without the cause. */
  readonly text: string;
  readonly cause?: Reason;
  /** For a program that could not be executed: 127 if it, or its interpreter, does not exist, otherwise 126, as a shell has it. */
  readonly exitStatus?: 126 | 127;
}

export function reason(code: ReasonCode, text: string, cause?: Reason): Reason {
  return cause === undefined ? { code, text } : { code, text, cause };
}

/** Such as "task stopped <- container web exited with 1 <- ...". */
export function renderReason({ text, cause }: Reason): string {
  return cause === undefined ? text : `${text} <- ${renderReason(cause)}`;
}
