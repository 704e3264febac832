/** What [Unit] says of the order of containers. Source: systemd.unit(5), "[Unit] section options". */
import type { Unit, Value } from "./unit.ts";
import type { Entry } from "./unit-text.ts";

export interface Need {
  readonly entry: Entry;
  /** Whether it is replaced and restarted with that one. */
  readonly isBound: boolean;
}

/** Units of the directory that a unit starts after. */
export type Needs = ReadonlyMap<Unit, Need>;

const BOUND = ["Requires", "BindsTo", "PartOf", "Requisite"] as const;
const OTHERS = ["After", "Before", "Wants", "Upholds", "Conflicts"] as const;
type Key = (typeof BOUND)[number] | (typeof OTHERS)[number];

const SUFFIX = /\.(?:service|container|pod|kube|volume|network|image)$/;
/** Units of systemd that are there long before the daemon is. */
const EARLY = /\.(?:target|mount|slice|path|socket|device)$/;

/** @param units by the names of their files */
export function needsIn(units: ReadonlyMap<string, Unit>): ReadonlyMap<Unit, Needs> {
  const named = new Map([...units, ...[...units.values()].map((unit) => [`${unit.service}.service`, unit] as const)]);
  const needs = new Map([...units.values()].map((unit) => [unit, new Map<Unit, Need>()]));
  const add = (unit: Unit, needed: Unit, need: Need) => {
    const all = needs.get(unit)!;
    all.set(needed, { ...need, isBound: need.isBound || (all.get(needed)?.isBound ?? false) });
  };
  for (const unit of units.values()) {
    for (const key of [...OTHERS, ...BOUND]) {
      const isBound = (BOUND as readonly string[]).includes(key);
      for (const value of unit.words("Unit", key)) {
        const found = meant(unit, key, value, named);
        if (found === undefined) continue;
        if (key === "Before") add(found, unit, { entry: value.entry, isBound });
        else if (key === "After" || isBound) add(unit, found, { entry: value.entry, isBound });
      }
    }
  }
  return needs;
}

/** undefined: it is no unit of the directory. */
function meant(unit: Unit, key: Key, { text, entry }: Value, named: ReadonlyMap<string, Unit>): Unit | undefined {
  const found = named.get(text);
  const isBound = (BOUND as readonly string[]).includes(key);
  if (found === unit) unit.refuse("names the file itself", entry);
  else if (found !== undefined && key === "Conflicts") unit.refuse(`${text} is applied with it`, entry);
  else if (found !== undefined) return found;
  else if (EARLY.test(text)) return undefined;
  else if (!SUFFIX.test(text)) unit.refuse(`${text} is no name of a unit`, entry);
  else if (!text.endsWith(".service")) unit.refuse(`there is no file ${text}`, entry);
  else if (isBound) unit.refuse(`${text} is of systemd, which does not start it for a task`, entry);
  else unit.warn(`${text} has no effect: it is of systemd`, entry);
  return undefined;
}
