/** A slice of the system's manager that holds the containers of a group, and what they may use together. */
import { parseProperty } from "../compile/property.ts";
import { slicePath } from "../compile/unit.ts";
import { readSystemd, withManager } from "./connect.ts";
import { UnitExists } from "./manager.ts";

/** One that is there gets these properties. @param properties as parseProperty reads them @throws RuntError config-invalid, cgroup */
export function startSlice(name: string, properties: readonly string[]): void {
  slicePath(name);
  const parsed = properties.map(parseProperty);
  withManager(readSystemd(false), (manager) => {
    try {
      manager.start(name, parsed);
    } catch (error) {
      if (!(error instanceof UnitExists)) throw error;
      manager.setProperties(
        name,
        parsed.filter((one) => one.name !== "Description"),
      );
    }
  });
}

/** With whatever is in it. One that is not there is fine. @throws RuntError config-invalid, cgroup */
export function stopSlice(name: string): void {
  slicePath(name);
  withManager(readSystemd(false), (manager) => manager.stop(name));
}
