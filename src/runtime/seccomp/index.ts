export { notifyListener } from "./notify.ts";
export { type FilterRequest, prepareFilter } from "./prepare.ts";
export type { ListenerState } from "./process-state.ts";
export { refusesExecve } from "./refuses.ts";
