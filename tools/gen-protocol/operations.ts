/**
 * The plan: one struct and one field table for every operation that the helper executes, and the heads around them. The decoder
 * (native-bindings/init/plan.c) walks the field tables.
 */
import type { OpDefinition } from "../../src/shared/protocol/index.ts";
import { enumeration, head, header, identifier, macro } from "./c.ts";
import type { Protocol } from "./protocol.ts";

const C_TYPE = {
  u32: "uint32_t",
  bool: "uint32_t",
  slot: "uint32_t",
  u64: "uint64_t",
  i64: "int64_t",
  str: "struct text",
  strs: "struct list",
  u32s: "struct list",
} as const;

type Named = readonly [name: string, definition: OpDefinition];

function struct([name, { fields }]: Named): string {
  const members = Object.entries(fields).map(([field, type]) => `  ${C_TYPE[type]} ${identifier(field)};`);
  return [`struct op_${identifier(name)} {`, ...(members.length > 0 ? members : ["  char unused;"]), "};"].join("\n");
}

function fieldTable([name, { fields }]: Named): string {
  const op = identifier(name);
  const rows = Object.entries(fields).map(
    ([field, type]) => `  {FIELD_${type.toUpperCase()}, offsetof(struct op_${op}, ${identifier(field)})},`,
  );
  return [`static const struct field FIELDS_${op}[] = {`, ...rows, "  {FIELD_END, 0},", "};"].join("\n");
}

function row([name, { id, actors }]: Named): string {
  const mask = actors.filter((actor) => actor !== "runtime").map((actor) => `1u << ACTOR_${actor.toUpperCase()}`);
  return `  X(${identifier(name)}, "${name}", ${id}, ${mask.join(" | ")})`;
}

export function planHeader({ NO_SLOT, OPERATION_HEAD, PLAN_HEAD, PLAN_MAGIC, PLAN_VERSION, SLOT }: Protocol): string {
  return header(
    "plan",
    macro("PLAN_MAGIC", `${PLAN_MAGIC}u`),
    macro("PLAN_VERSION", PLAN_VERSION),
    head("plan_head", PLAN_HEAD),
    head("operation_head", OPERATION_HEAD),
    macro("NO_SLOT", `${NO_SLOT}u`),
    enumeration("fixed_slot", "SLOT", SLOT),
  );
}

export function operationsHeader(protocol: Protocol): string {
  const own = (Object.entries(protocol.OPS) as [string, OpDefinition][]).filter(([, { actors }]) =>
    actors.some((actor) => actor !== "runtime"),
  );
  return header(
    "operations",
    '#include "wire.h"',
    '#include "plan.h"',
    enumeration("create_mode", "CREATE", protocol.CREATE),
    enumeration("actor", "ACTOR", Object.fromEntries(protocol.HELPER_ACTORS.map((name, number) => [name, number]))),
    ["enum field_type {", ...[...Object.keys(C_TYPE), "end"].map((type) => `  FIELD_${type.toUpperCase()},`), "};"].join("\n"),
    "",
    "/* X(identifier, name, number, mask of actors) for every operation of the helper. */",
    ["#define HELPER_OPS(X) \\", own.map(row).join(" \\\n")].join("\n"),
    ["enum op_number {", ...own.map(([name, { id }]) => `  OP_${identifier(name)} = ${id},`), "};"].join("\n"),
    "",
    ...own.map(struct),
    ["union op_arguments {", ...own.map(([name]) => `  struct op_${identifier(name)} ${identifier(name)};`), "};"].join("\n"),
    "",
    "#ifdef OPS_TABLES",
    ...own.map(fieldTable),
    "#endif",
  );
}
