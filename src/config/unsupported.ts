/**
 * What this version cannot apply yet. Asking for it is an error, never a silent loss; fields that are present but ask for
 * nothing (null, {}, [], "") are not requests, because Go's encoders write them.
 */
import { RuntError } from "../errors/index.ts";
import type { Spec } from "../spec/index.ts";

type Request = readonly [pointer: string, asked: (spec: Spec) => boolean];

const some = (value: unknown[] | Record<string, unknown> | string | null | undefined): boolean =>
  value !== null &&
  value !== undefined &&
  (typeof value === "object" && !Array.isArray(value) ? Object.keys(value).length : value.length) > 0;

const REQUESTS: readonly Request[] = [
  ["/process/scheduler", ({ process }) => some(process?.scheduler?.policy)],
  ["/process/ioPriority", ({ process }) => some(process?.ioPriority?.class)],
  ["/linux/personality", ({ linux }) => some(linux?.personality?.domain)],
  ["/linux/intelRdt", ({ linux }) => some(linux?.intelRdt)],
  ["/linux/memoryPolicy", ({ linux }) => some(linux?.memoryPolicy?.mode)],
  ["/linux/netDevices", ({ linux }) => some(linux?.netDevices)],
];

/** Throws RuntError "not-supported" for the first request: `linux.seccomp: not supported yet`. */
export function refuseUnsupported(spec: Spec): void {
  for (const [pointer, asked] of REQUESTS) {
    if (asked(spec)) throw new RuntError("not-supported", `${pointer.slice(1).replaceAll("/", ".")}: not supported yet`, { pointer });
  }
}
