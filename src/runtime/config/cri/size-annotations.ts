/** How much the containers of a pod may use together, as containerd writes it on the pod's sandbox. */
import type { Annotations } from "./identity.ts";

const PREFIX = "io.kubernetes.cri.sandbox-";

const INT64 = [-(2n ** 63n), 2n ** 63n - 1n] as const;
const UINT64 = [0n, 2n ** 64n - 1n] as const;

/** Each with the least and the most that its type holds: those of linux.resources. */
const FIELDS = {
  /** Microseconds. */
  period: ["cpu-period", UINT64],
  /** Microseconds in each period; negative: no limit. */
  quota: ["cpu-quota", INT64],
  shares: ["cpu-shares", UINT64],
  /** Bytes; negative: no limit. */
  memory: ["memory", INT64],
} as const;

export type SizeField = keyof typeof FIELDS;
export const SIZE_FIELDS = Object.keys(FIELDS) as readonly SizeField[];

export function sizeKey(field: SizeField): string {
  return PREFIX + FIELDS[field][0];
}

/** undefined: it is not there. "bad": no number that the field can hold. */
export function readSize(annotations: Annotations | null | undefined, field: SizeField): bigint | "bad" | undefined {
  const key = sizeKey(field);
  const text = annotations && Object.hasOwn(annotations, key) ? annotations[key] : undefined;
  if (text === undefined) return undefined;
  if (!/^[+-]?\d{1,20}$/.test(text)) return "bad";
  const value = BigInt(text.replace("+", ""));
  const [least, most] = FIELDS[field][1];
  return value < least || value > most ? "bad" : value;
}
