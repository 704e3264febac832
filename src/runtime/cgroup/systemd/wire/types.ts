/** D-Bus types and values. Source: D-Bus specification, "Type system". */

export type BasicCode = "y" | "b" | "n" | "q" | "i" | "u" | "x" | "t" | "d" | "s" | "o" | "g";

export type Type =
  | { readonly code: BasicCode | "v" }
  | { readonly code: "a"; readonly element: Type }
  | { readonly code: "("; readonly fields: readonly Type[] }
  /** Only as the element of an array. */
  | { readonly code: "{"; readonly key: Type; readonly value: Type };

/** y n q i u d: number. x t: bigint. b: boolean. s o g: string. ay: Uint8Array. Arrays, structures and dictionary entries: list. v: Variant. */
export type Value = number | bigint | boolean | string | Uint8Array | Variant | readonly Value[];

export interface Variant {
  readonly signature: string;
  readonly value: Value;
}

export const BASIC_CODES: ReadonlySet<string> = new Set<BasicCode>(["y", "b", "n", "q", "i", "u", "x", "t", "d", "s", "o", "g"]);

/** Bytes a value starts at a multiple of. */
export function alignmentOf(code: Type["code"]): number {
  switch (code) {
    case "y":
    case "g":
    case "v":
      return 1;
    case "n":
    case "q":
      return 2;
    case "x":
    case "t":
    case "d":
    case "(":
    case "{":
      return 8;
    default:
      return 4;
  }
}

/** Lowest and highest value. */
export const INTEGER_RANGE = {
  y: [0n, 0xffn],
  n: [-0x8000n, 0x7fffn],
  q: [0n, 0xffffn],
  i: [-0x8000_0000n, 0x7fff_ffffn],
  u: [0n, 0xffff_ffffn],
  x: [-0x8000_0000_0000_0000n, 0x7fff_ffff_ffff_ffffn],
  t: [0n, 0xffff_ffff_ffff_ffffn],
} as const satisfies Partial<Record<BasicCode, readonly [bigint, bigint]>>;
export type IntegerCode = keyof typeof INTEGER_RANGE;

export function isInteger(code: string): code is IntegerCode {
  return Object.hasOwn(INTEGER_RANGE, code);
}

const OBJECT_PATH = /^\/(?:[A-Za-z0-9_]+(?:\/[A-Za-z0-9_]+)*)?$/;

export function isObjectPath(text: string): boolean {
  return OBJECT_PATH.test(text);
}
