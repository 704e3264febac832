export type { Part } from "./parts.ts";
export { type Schedule, scheduleOf } from "./places.ts";
