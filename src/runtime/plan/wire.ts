/** The wire form of a plan, and back: to the helper's operations, each with its place in the printed plan. Pure. */
import {
  type FieldType,
  HELPER_ACTORS,
  OPERATION_HEAD,
  OPS,
  type OpDefinition,
  type OpName,
  PLAN_HEAD,
  PLAN_MAGIC,
  PLAN_VERSION,
} from "../../shared/protocol/index.ts";

export interface DecodedOp {
  /** In the whole plan. */
  readonly index: number;
  readonly actor: "intermediate" | "init";
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
  if (bytes.byteLength < sizeOf(PLAN_HEAD)) return found;
  const { magic, version, operations } = readHead(view, 0, PLAN_HEAD);
  if (magic !== PLAN_MAGIC || version !== PLAN_VERSION) return found;
  for (let at = sizeOf(PLAN_HEAD), left = operations; left > 0 && at + sizeOf(OPERATION_HEAD) <= bytes.byteLength; left--) {
    const head = readHead(view, at, OPERATION_HEAD);
    at += sizeOf(OPERATION_HEAD);
    const known = BY_ID.get(head.number);
    const actor = HELPER_ACTORS[head.actor];
    if (!known || !actor || at + head.bytes > bytes.byteLength) return found;
    const args = readFields(view, at, known.definition.fields, decodeText);
    found.push({ index: head.index, actor, op: known.name, args });
    at += head.bytes;
  }
  return found;
}

const sizeOf = (head: object): number => Object.keys(head).length * 4;

function readHead<H extends object>(view: DataView, at: number, head: H): { readonly [K in keyof H]: number } {
  const words = Object.keys(head).map((name, place) => [name, view.getUint32(at + place * 4, true)]);
  return Object.fromEntries(words) as { readonly [K in keyof H]: number };
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

/** The wire form of a plan (src/shared/protocol/plan.ts), as `host.packPlan` is told it. */
const LETTER: Readonly<Record<FieldType, string>> = { u32: "u", bool: "u", slot: "u", u64: "q", i64: "q", str: "s", strs: "S", u32s: "U" };

type Shape = readonly [id: number, letters: string, ...names: string[]];

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
