/** Plans for tests of the helper: short to write, packed by Node in the wire form of src/runtime/plan/wire.ts. */
import { type FieldType, NO_SLOT, OPS, type OpArgs, type OpName, PLAN_VERSION, SLOT } from "../../src/shared/protocol/index.ts";

const MAGIC = 0x544e_5552;

export interface TestOp {
  readonly op: OpName;
  readonly actor: "intermediate" | "init";
  readonly args: Readonly<Record<string, unknown>>;
}

/** Value of a field that a test does not name. */
const DEFAULTS: Readonly<Record<FieldType, unknown>> = {
  u32: 0,
  bool: false,
  slot: NO_SLOT,
  u64: 0n,
  i64: 0n,
  str: "",
  strs: [],
  u32s: [],
};

export function intermediate<K extends OpName>(op: K, args: Partial<OpArgs<K>> = {}): TestOp {
  return { op, actor: "intermediate", args };
}

export function init<K extends OpName>(op: K, args: Partial<OpArgs<K>> = {}): TestOp {
  return { op, actor: "init", args };
}

export function packPlan(ops: readonly TestOp[], slots: number = highestSlot(ops) + 1): Buffer {
  const body = Buffer.concat(ops.map(packOp));
  return Buffer.concat([u32(MAGIC), u32(PLAN_VERSION), u32(20 + body.length), u32(ops.length), u32(slots), body]);
}

function packOp({ op, actor, args }: TestOp, index: number): Buffer {
  const { id, fields } = OPS[op];
  const payload = Buffer.concat(
    Object.entries(fields as Readonly<Record<string, FieldType>>).map(([name, type]) => packField(type, args[name] ?? DEFAULTS[type])),
  );
  return Buffer.concat([u32(id), u32(actor === "init" ? 1 : 0), u32(index), u32(payload.length), payload]);
}

function packField(type: FieldType, value: unknown): Buffer {
  switch (type) {
    case "u32":
    case "bool":
    case "slot":
      return u32(Number(value));
    case "u64":
    case "i64":
      return u64(BigInt(value as bigint));
    case "str":
      return text(value as string);
    case "strs": {
      const elements = value as readonly string[];
      return Buffer.concat([u32(elements.length), ...elements.map(text)]);
    }
    case "u32s": {
      const elements = value as readonly number[];
      return Buffer.concat([u32(elements.length), ...elements.map(u32)]);
    }
  }
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value >>> 0);
  return bytes;
}

function u64(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt.asUintN(64, value));
  return bytes;
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([u32(bytes.length), bytes, Buffer.alloc(1)]);
}

function highestSlot(ops: readonly TestOp[]): number {
  let highest: number = SLOT.FIRST_FREE;
  for (const { op, args } of ops) {
    const fields = OPS[op].fields as Readonly<Record<string, FieldType>>;
    for (const name in fields) {
      const value = args[name];
      if (fields[name] !== "slot" || typeof value !== "number" || value === NO_SLOT) continue;
      highest = Math.max(
        highest,
        value + (Array.isArray(args.files) ? args.files.length : 0) + (typeof args.count === "number" ? args.count : 0),
      );
    }
  }
  return highest;
}
