/** Where a container runs: on the host, or in a machine. */
export { guestPlan } from "./configurations/guest.ts";
export { deriveWhereAsked } from "./derive.ts";
export { type Isolation, isolationOf, type ProcessRequest, type UpdateRequest } from "./drivers/index.ts";
export { guestReport, showConsole } from "./drivers/machine.ts";
export { type MachineFacts, machines } from "./look/machines.ts";
export { readReport } from "./look/report.ts";
export { KNOWN } from "./places.ts";
