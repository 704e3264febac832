export { type JsonOptions, type JsonValue, lineColumn, parseJson, pointerToken } from "./json.ts";
export { parseSpec } from "./load.ts";
export type {
  Integer,
  Spec,
  SpecDevice,
  SpecIdMapping,
  SpecLinux,
  SpecMount,
  SpecNamespace,
  SpecProcess,
  SpecResources,
} from "./types.ts";
