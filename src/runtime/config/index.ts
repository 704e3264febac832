export { cleanPath } from "../spec/path.ts";

export { type DeriveContext, deriveConfig } from "./derive.ts";
export { deriveProcess } from "./process.ts";
export { deriveResources } from "./resources.ts";
export type * from "./types.ts";
