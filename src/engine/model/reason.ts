/** Reasons: a chain from the state that a user asks about to the first observation that caused it. */

export type ReasonCode =
  | "StoppedByUser"
  | "EssentialContainerExited"
  | "ContainerExited"
  | "ContainerVanished"
  | "ExitUnknown"
  | "OutOfMemory"
  | "HostRebooted"
  | "TaskStopped"
  | "PullFailed"
  | "StoppedBeforePull"
  | "CreateFailed"
  | "StartFailed"
  | "ProvisionFailed"
  | "ResourceFailed"
  | "CheckFailed"
  | "Evicted"
  | "DependencyFailed"
  | "DependencyTimeout"
  | "LedgerError"
  | "StopFailed"
  | "Replaced"
  | "Orphan";

export interface Reason {
  readonly code: ReasonCode;
  /** For people; without the cause. */
  readonly text: string;
  readonly cause?: Reason;
}

export function reason(code: ReasonCode, text: string, cause?: Reason): Reason {
  return cause === undefined ? { code, text } : { code, text, cause };
}

/** "task stopped <- container web exited with 1 <- ..." */
export function renderReason({ text, cause }: Reason): string {
  return cause === undefined ? text : `${text} <- ${renderReason(cause)}`;
}

/** The end of the chain: the first cause. */
export function rootCause(of: Reason): Reason {
  return of.cause === undefined ? of : rootCause(of.cause);
}
