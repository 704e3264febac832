/** The five capability sets as bit masks. */

import { CAPABILITIES } from "../../shared/linux/index.ts";
import type { SpecProcess } from "../spec/index.ts";
import type { CapabilitySets } from "./types.ts";
import type { Warn } from "./warnings.ts";

const BITS: ReadonlyMap<string, bigint> = new Map(CAPABILITIES.map((name, number) => [name, 1n << BigInt(number)]));

const SETS = ["bounding", "effective", "permitted", "inheritable", "ambient"] as const;

/** The capabilities of a process whose configuration has no capabilities object: none. */
export const NO_CAPABILITIES: CapabilitySets = { bounding: 0n, effective: 0n, permitted: 0n, inheritable: 0n, ambient: 0n };

/** undefined when there is no capabilities object: what that means is not the same for a container and for exec. Unknown names are left out with a warning (config, capabilities). */
export function deriveCapabilities(capabilities: SpecProcess["capabilities"], pointer: string, warn: Warn): CapabilitySets | undefined {
  if (capabilities === null || capabilities === undefined) return undefined;
  const masks = { ...NO_CAPABILITIES };
  for (const set of SETS) {
    const names = capabilities[set] ?? [];
    let mask = 0n;
    for (let index = 0; index < names.length; index++) {
      const name = names[index] as string;
      const bit = BITS.get(name);
      if (bit === undefined) warn("capability-unknown", `${pointer}/${set}/${index}`, `capability "${name}" is not known and is left out`);
      else mask |= bit;
    }
    masks[set] = mask;
  }
  return masks;
}
