import { RuntError } from "../errors/index.ts";
import type { Warn } from "./warnings.ts";

/** crun's annotation: an unknown system call is an error instead of a warning. */
const ANNOTATION = "run.oci.seccomp_fail_unknown_syscall";

/** As with crun every value but "0". */
export function refusesUnknownCalls(annotations: Readonly<Record<string, string>> | null | undefined): boolean {
  const value = annotations?.[ANNOTATION];
  return value !== undefined && value !== "0";
}

/** @throws RuntError config-invalid, always */
export function refuseUnknownCalls(names: string): never {
  throw new RuntError("config-invalid", `linux.seccomp: unknown system calls: ${names}`, {
    pointer: "/linux/seccomp/syscalls",
    hint: `the annotation ${ANNOTATION} makes this an error`,
  });
}

/** In place of the warning that deriveSeccomp has. */
export const refuseWarned: Warn = (_code, _pointer, message) => refuseUnknownCalls(message.slice(message.lastIndexOf(": ") + 2));
