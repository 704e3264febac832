/** Compose files. */
export { renderFinding } from "../../../engine/index.ts";
export { parseCompose, variablesIn } from "../../../pod/index.ts";
