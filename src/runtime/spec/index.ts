export { type JsonOptions, type JsonValue, lineColumn, parseJson, pointerToken } from "./json.ts";
export { parseConfig, parsePart, parseSpec, validateSpec } from "./load.ts";
export { member } from "./member.ts";
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
  SpecSeccomp,
} from "./types.ts";
