export { locateGroups, type ResctrlRef, releaseGroups } from "./container.ts";
export { changeSchemata, type GroupRef, joinGroup, makeMonitor, pathOf, prepareGroup } from "./group.ts";
export { findResctrl } from "./schemata.ts";
