/**
 * The wire form of a plan, as `host.packPlan` writes it: only the helper's operations, each with its place in the printed plan.
 * u32 magic, version, total length, op count, slots; per operation u32 kind, actor, index, payload length, payload.
 */
import { type FieldType, OPS, type OpDefinition, type OpName } from "./ops.ts";

/** "RUNT", little endian. */
export const PLAN_MAGIC = 0x544e_5552;
/** Their numbers on the wire are their places here. */
export const HELPER_ACTORS = ["outer", "init"] as const;
const LETTER: Readonly<Record<FieldType, string>> = { u32: "u", bool: "u", slot: "u", u64: "q", i64: "q", str: "s", strs: "S", u32s: "U" };

export type Shape = readonly [id: number, letters: string, ...names: string[]];

/** Worked out once: in `bin/runt` when the engine image is made. */
export const SHAPES = Object.fromEntries(
  (Object.entries(OPS) as [OpName, OpDefinition][]).map(([name, { id, fields }]): [OpName, Shape] => [
    name,
    [
      id,
      Object.values(fields)
        .map((type) => LETTER[type])
        .join(""),
      ...Object.keys(fields),
    ],
  ]),
) as Readonly<Record<OpName, Shape>>;
