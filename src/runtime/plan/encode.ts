/** The wire form of a plan (src/shared/protocol/plan.ts), as `host.packPlan` is told it. */
import { type FieldType, OPS, type OpDefinition, type OpName } from "../../shared/protocol/index.ts";

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
