/** What a check has to say, and the shape of a check. */
import type { Spec } from "../spec/index.ts";

export type Severity = "error" | "warning";

export interface Finding {
  /** Stable name: "namespace-duplicate". */
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
  readonly apparmor?: boolean;
  readonly selinux?: boolean;
}

export interface Report {
  error(code: string, pointer: string, message: string, remedy?: string): void;
  warning(code: string, pointer: string, message: string, remedy?: string): void;
}

/** Looks at one rule of the specification; must survive any structure the schema lets through. */
export type Check = (spec: Spec, report: Report, facts: CheckFacts) => void;
