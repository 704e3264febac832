export { type Compiled, compileBundle } from "./compile.ts";
export { create } from "./create.ts";
export { remove } from "./delete.ts";
export { type ContainerState, describe, type ListRow, list } from "./describe.ts";
export { kill } from "./kill.ts";
export type { CreateOptions, RuntimeOptions } from "./options.ts";
export { run } from "./run.ts";
export { start } from "./start.ts";
