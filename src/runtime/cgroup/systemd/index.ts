/** The systemd cgroup driver: loaded for containers that have a unit, and only then. */
export { annotationProperties } from "./compile/annotations.ts";
export { compileUnit, type ManagerSocket, type SystemdFacts, type UnitJoin, type UnitSteps } from "./compile/index.ts";
export { parseUnit } from "./compile/unit.ts";
export { readSystemd } from "./driver/connect.ts";
export { hybridProcesses } from "./driver/hybrid.ts";
export { UnitExists } from "./driver/manager.ts";
export { mayMigrate } from "./driver/migrate.ts";
export { attachToUnit, isUnitAt, startUnit, stopUnit, type UnitRef, updateUnit } from "./driver/unit.ts";
