/** execa passes any descriptor on; its types know 0, 1 and 2 only. */

export type Stream = number | "ignore" | "pipe";

export function descriptors(stdio: readonly [Stream, Stream, Stream, number]): ["pipe", "pipe", "pipe", "ignore"] {
  return [...stdio] as unknown as ["pipe", "pipe", "pipe", "ignore"];
}
