export { bundleProblems } from "./bundle.ts";
export { launchOf, limitsOf, type Placement, sourceOf } from "./launch.ts";
export { type PausePlacement, pauseLaunch } from "./pause.ts";
export { refusedByHost } from "./refused.ts";
export { limitWrites, type TaskResources, taskResources } from "./task-limits.ts";
