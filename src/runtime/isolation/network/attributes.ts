/** Attributes within an attribute: type and length, the value, zeros up to four bytes. Pure. */
import { type Attribute, attributesOf, u16 } from "../../network/index.ts";

const HEADER = 4;

export function nested(attributes: readonly Attribute[]): number[] {
  return attributes.flatMap(([type, value]) => [
    ...u16(HEADER + value.length),
    ...u16(type),
    ...value,
    ...new Array<number>((4 - (value.length % 4)) % 4).fill(0),
  ]);
}

export function nestedIn(value: readonly number[] = []): Attribute[] {
  return attributesOf(new DataView(new Uint8Array(value).buffer), 0);
}
