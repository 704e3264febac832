import type { MountAttributes } from "../../config/index.ts";

export const NO_ATTRIBUTES: MountAttributes = { attrSet: 0n, attrClear: 0n, recursiveSet: 0n, recursiveClear: 0n, propagation: [] };

export function attributes({ attrSet, attrClear, recursiveSet, recursiveClear, propagation }: MountAttributes): MountAttributes {
  return { attrSet, attrClear, recursiveSet, recursiveClear, propagation };
}
