/** The effects on a container's unit. */
import { RuntError } from "../../../errors/index.ts";
import * as host from "../../../host/index.ts";
import type { CgroupWrite } from "../../compile/steps.ts";
import { readIfThere } from "../../driver/tree.ts";
import type { Told, UnitRef } from "../../drivers/types.ts";
import type { CgroupRef } from "../../model.ts";
import { compileLimits } from "../compile/limits.ts";
import { type Property, parseProperty } from "../compile/property.ts";
import { versionOf, withManager } from "./connect.ts";
import { processProperty } from "./manager.ts";

/**
 * The operation `systemd.startUnit`. @throws UnitExists or RuntError cgroup
 * @param pid of init, which systemd moves into the unit; undefined: the unit has no process.
 */
export function startUnit(unit: UnitRef, properties: readonly string[], pid: number | undefined): void {
  const all = [...(pid === undefined ? [] : [processProperty(pid)]), ...properties.map(parseProperty)];
  withManager(unit, (manager) => manager.start(unit.unit, all));
}

/**
 * Best effort: the processes are dead already, and what decides is whether the cgroup can be removed. systemd forgets a unit by itself
 * when its cgroup is empty.
 */
export function stopUnit(unit: UnitRef): void {
  try {
    withManager(unit, (manager) => manager.stop(unit.unit));
  } catch (error) {
    if (!(error instanceof RuntError)) throw error;
  }
}

/**
 * Whether a unit of this name, if there is one, has its cgroup there: two units of one name, one after the other, may be in different slices.
 * A unit that has failed has no cgroup and no owner.
 */
export function isUnitAt(unit: UnitRef, directory: string): boolean {
  try {
    const [found] = withManager(unit, (manager) => manager.unitProperties(unit.unit, ["ControlGroup"]));
    const place = found?.value.value;
    return typeof place !== "string" || directory.endsWith(place);
  } catch (error) {
    // There is none.
    if (!(error instanceof RuntError)) throw error;
    return true;
  }
}

/** The operation `systemd.attach`. */
export function attachToUnit(unit: UnitRef, path: string, pid: number): void {
  withManager(unit, (manager) => manager.attach(unit.unit, path, pid));
}

/** Tell systemd of new limits, until the next boot. The writes that are left have the values that it has now. */
export function updateUnit(unit: UnitRef, cgroup: CgroupRef, writes: readonly CgroupWrite[]): Told {
  return withManager(unit, (manager) => {
    const limits = compileLimits(
      cgroup.version,
      writes,
      () => versionOf(unit),
      (file) => readCurrent(cgroup, file),
    );
    const properties = limits.properties.filter(isChangeable);
    if (properties.length === 0) return { writes: limits.writes, undo: () => {} };
    const before = manager.unitProperties(
      unit.unit,
      properties.map(({ name }) => name),
    );
    manager.setProperties(unit.unit, properties);
    return { writes: limits.writes, undo: () => withManager(unit, () => manager.setProperties(unit.unit, before)) };
  });
}

function isChangeable({ name }: Property): boolean {
  return name !== "OOMPolicy";
}

function readCurrent({ paths }: CgroupRef, file: string): string | undefined {
  for (const path of paths) {
    if (host.access(`${path}/${file}`, host.ACCESS.EXIST)) return readIfThere(`${path}/${file}`);
  }
  return undefined;
}
