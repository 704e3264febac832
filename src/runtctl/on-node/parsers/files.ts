/** Files of tasks and of Kubernetes objects. */
export { renderFinding } from "../../../engine/index.ts";
export { parseFile } from "../../../pod/index.ts";
