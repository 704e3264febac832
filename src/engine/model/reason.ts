/** Why something is as it is: a chain from what a user asks about to what was observed first. */

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
  | "CreateFailed"
  | "StartFailed"
  | "ProvisionFailed"
  | "ResourceFailed"
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

/** The last of the chain: what happened first. */
export function rootCause(of: Reason): Reason {
  return of.cause === undefined ? of : rootCause(of.cause);
}
