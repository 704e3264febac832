import { type HostError, strerror } from "runt:host";

/** True if this is the host error of that symbolic name ("ENOENT"). */
export function isErrno(error: unknown, ...codes: readonly string[]): boolean {
  return codes.includes((error as HostError | undefined)?.code ?? "");
}

/** The kernel's words for a host error ("no such file or directory"), or the message of any other one. */
export function reason(error: unknown): string {
  const { errno, message } = (error ?? {}) as Partial<HostError>;
  return errno === undefined ? (message ?? String(error)) : strerror(errno);
}
