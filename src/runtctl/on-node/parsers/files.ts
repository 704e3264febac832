/** Files of tasks and of Kubernetes objects. */
export { renderFinding, warningsOf } from "../../../engine/index.ts";
export { parseFile } from "../../../pod/index.ts";
