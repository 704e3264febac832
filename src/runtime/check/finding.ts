/** What a check has to say, and the shape of a check. */
import type { Spec } from "../spec/index.ts";

export type { HostFacts } from "../spec/index.ts";

/** error: create fails. warning: it does something other than what stands there. advice: it works, and there is a better way. */
export type Severity = "error" | "warning" | "advice";

export interface Finding {
  /** Stable name: "namespace-duplicate". Each has an entry in src/runtime/check/catalogue. */
  readonly code: string;
  readonly severity: Severity;
  /** JSON pointer into config.json. */
  readonly pointer: string;
  readonly message: string;
  readonly remedy?: string;
}

/** What is known about the caller; left out, the checks that need it are skipped. */
export interface CheckFacts {
  /** The caller is not root: it may only map ids it owns. */
  readonly rootless?: boolean;
  /** The security module is enabled on this host. */
  readonly apparmor?: boolean | undefined;
  readonly selinux?: boolean | undefined;
  /** No string of the configuration has a NUL byte: its text has been looked at, which is quicker than a look at each string. */
  readonly withoutNul?: boolean;
}

export interface Report {
  error(code: string, pointer: string, message: string, remedy?: string): void;
  warning(code: string, pointer: string, message: string, remedy?: string): void;
  advice(code: string, pointer: string, message: string, remedy?: string): void;
}

/** Looks at one rule of the specification; must survive any structure the schema lets through. */
export type Check = (spec: Spec, report: Report, facts: CheckFacts) => void;

/** A report that keeps what it is told in a list. */
export function reportInto(findings: Finding[]): Report {
  const add = (severity: Severity) => (code: string, pointer: string, message: string, remedy?: string) => {
    findings.push(remedy === undefined ? { code, severity, pointer, message } : { code, severity, pointer, message, remedy });
  };
  return { error: add("error"), warning: add("warning"), advice: add("advice") };
}

/** The host as checks and compile see it: the document that `runt check -f json` prints (src/runtime/spec/schema/host-facts.ts). */

/** The version of the document that this program writes and reads. */
export const HOST_FACTS_VERSION = 1;
