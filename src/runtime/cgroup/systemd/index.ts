/** The systemd cgroup driver, for containers that have a unit. */
export { annotationProperties } from "./compile/annotations.ts";
export { compileUnit, type ManagerSocket, type SystemdFacts, type UnitJoin, type UnitSteps } from "./compile/index.ts";
export { parseUnit } from "./compile/unit.ts";
export { readSystemd } from "./driver/connect.ts";
export { UnitExists } from "./driver/manager.ts";
export { attachToUnit, startUnit, stopUnit } from "./driver/unit.ts";
export { startSlice, stopSlice, unitDriver } from "./driver/unit-driver.ts";
