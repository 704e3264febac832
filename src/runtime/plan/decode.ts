/** The wire form of a plan -> the helper's operations, each with its place in the printed plan: the other way of encode.ts. Pure. */
import { type FieldType, OPS, type OpDefinition, type OpName, PLAN_MAGIC, PLAN_VERSION } from "../../shared/protocol/index.ts";

export interface DecodedOp {
  /** In the whole plan. */
  readonly index: number;
  readonly actor: "outer" | "init";
  readonly op: OpName;
  readonly args: Readonly<Record<string, unknown>>;
}

/** Text of UTF-8 bytes. */
export type DecodeText = (bytes: ArrayBuffer, offset: number, length: number) => string;

const BY_ID = new Map((Object.entries(OPS) as [OpName, OpDefinition][]).map(([name, definition]) => [definition.id, { name, definition }]));

/** Empty for what is no plan of this version: the reader is an onlooker. */
export function decodePlan(bytes: ArrayBuffer, decodeText: DecodeText): DecodedOp[] {
  const view = new DataView(bytes);
  const found: DecodedOp[] = [];
  if (bytes.byteLength < 20 || view.getUint32(0, true) !== PLAN_MAGIC || view.getUint32(4, true) !== PLAN_VERSION) return found;
  const count = view.getUint32(12, true);
  for (let at = 20, left = count; left > 0 && at + 16 <= bytes.byteLength; left--) {
    const [id, actor, index, length] = [0, 4, 8, 12].map((offset) => view.getUint32(at + offset, true)) as [number, number, number, number];
    at += 16;
    const known = BY_ID.get(id);
    if (!known || at + length > bytes.byteLength) return found;
    const args = readFields(view, at, known.definition.fields, decodeText);
    found.push({ index, actor: actor === 0 ? "outer" : "init", op: known.name, args });
    at += length;
  }
  return found;
}

function readFields(view: DataView, start: number, fields: OpDefinition["fields"], decodeText: DecodeText): Record<string, unknown> {
  let at = start;
  const number = (): number => {
    at += 4;
    return view.getUint32(at - 4, true);
  };
  const wide = (signed: boolean): bigint => {
    at += 8;
    return signed ? view.getBigInt64(at - 8, true) : view.getBigUint64(at - 8, true);
  };
  const text = (): string => {
    const length = number();
    at += length + 1;
    return decodeText(view.buffer as ArrayBuffer, at - length - 1, length);
  };
  const list = <T>(item: () => T): T[] => Array.from({ length: number() }, item);
  const readers: Readonly<Record<FieldType, () => unknown>> = {
    u32: number,
    slot: number,
    bool: () => number() !== 0,
    u64: () => wide(false),
    i64: () => wide(true),
    str: text,
    strs: () => list(text),
    u32s: () => list(number),
  };
  return Object.fromEntries(Object.entries(fields).map(([name, type]) => [name, readers[type]()]));
}
