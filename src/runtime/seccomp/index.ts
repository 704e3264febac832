export { type FilterRequest, type ListenerState, notifyListener, prepareFilter, refusesExecve } from "./prepare.ts";
