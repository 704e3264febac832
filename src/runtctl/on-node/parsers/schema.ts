/** The JSON Schema of a task. */
export { taskJsonSchema } from "../../../engine/index.ts";
