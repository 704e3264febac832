/**
 * Plan -> the flat form that `host.pack` turns into bytes: only the helper's operations, each with its place in the printed plan.
 * Wire form: u32 magic, version, total length, op count, slots; per operation u32 kind, actor, index, payload length, payload.
 */
import { type FieldType, OPS, type OpDefinition, type OpName, type Plan } from "./ops.ts";

export interface Packed {
  readonly format: string;
  readonly values: readonly unknown[];
}

/** "RUNT", little endian. */
export const PLAN_MAGIC = 0x544e_5552;
const ACTOR_NUMBER = { outer: 0, init: 1 } as const;
const LETTER: Readonly<Record<FieldType, string>> = { u32: "u", bool: "u", slot: "u", u64: "q", i64: "q", str: "s", strs: "S", u32s: "U" };

interface Shape {
  readonly id: number;
  readonly format: string;
  readonly names: readonly string[];
}

/** Worked out once: in `bin/runt` when the engine image is made. */
const SHAPES = new Map<OpName, Shape>(
  (Object.entries(OPS) as [OpName, OpDefinition][]).map(([name, { id, fields }]) => [
    name,
    {
      id,
      format: `uuu(${Object.values(fields)
        .map((type) => LETTER[type])
        .join("")})`,
      names: Object.keys(fields),
    },
  ]),
);

export function encodePlan(plan: Plan): Packed {
  const values: unknown[] = [PLAN_MAGIC, plan.version, 0, plan.slots];
  let format = "uuTuu";
  let count = 0;
  for (let index = 0; index < plan.ops.length; index++) {
    const { op, actor, args } = plan.ops[index]!;
    if (actor === "runtime") continue;
    const shape = SHAPES.get(op)!;
    values.push(shape.id, ACTOR_NUMBER[actor], index);
    format += shape.format;
    for (const name of shape.names) {
      const value = (args as Readonly<Record<string, unknown>>)[name];
      values.push(typeof value === "boolean" ? Number(value) : value);
    }
    count++;
  }
  values[2] = count;
  return { format, values };
}
