/**
 * The closed set of operations a plan is made of, by subject. Every operation is executed by one actor (fields.ts). Each actor executes its own
 * operations in list order; `sync.send` and `sync.wait` order them across actors.
 *
 * Numbers are part of the wire form: append, never reuse. The highest one is 151.
 */
import type { FieldType, FieldValue, OpDefinition } from "../fields.ts";
import { CGROUPS } from "./cgroups.ts";
import { FILES } from "./files.ts";
import { HELPER, RENDEZVOUS } from "./helper.ts";
import { MOUNTS, ROOT } from "./mounts.ts";
import { IDS, NAMESPACES } from "./namespaces.ts";
import { HOOKS, PROCESS } from "./process.ts";
import { SECURITY } from "./security.ts";
import { STATE } from "./state.ts";

export const OPS = {
  ...STATE,
  ...HELPER,
  ...RENDEZVOUS,
  ...IDS,
  ...CGROUPS,
  ...NAMESPACES,
  ...ROOT,
  ...MOUNTS,
  ...FILES,
  ...PROCESS,
  ...SECURITY,
  ...HOOKS,
} as const satisfies Record<string, OpDefinition>;

export type OpName = keyof typeof OPS;

type FieldsOf<K extends OpName> = (typeof OPS)[K]["fields"];
export type OpArgs<K extends OpName> = { readonly [F in keyof FieldsOf<K>]: FieldValue[FieldsOf<K>[F] & FieldType] };
