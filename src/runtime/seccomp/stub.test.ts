import { expect, it } from "vitest";
import { enosysStub, type Highest } from "./stub.ts";

const X86_64 = 0xc000_003e;
const X86 = 0x4000_0003;
const X32 = 0x4000_003e;
const ENOSYS = 0x5_0026;

/** What a stub answers; "filter" when it leaves the call to the filter behind it. */
function answer(highest: readonly Highest[], architecture: number, number: number): number | "filter" {
  const view = new DataView(enosysStub(highest));
  const count = view.byteLength / 8;
  let accumulator = 0;
  for (let at = 0; at < count; at++) {
    const value = view.getUint32(at * 8 + 4, true);
    const jump = (condition: boolean) => view.getUint8(at * 8 + (condition ? 2 : 3));
    switch (view.getUint16(at * 8, true)) {
      case 0x20:
        accumulator = value === 0 ? number : architecture;
        break;
      case 0x15:
        at += jump(accumulator === value);
        break;
      case 0x25:
        at += jump(accumulator > value);
        break;
      case 0x35:
        at += jump(accumulator >= value);
        break;
      case 0x05:
        at += value;
        break;
      case 0x06:
        return value;
      default:
        throw new Error("unknown instruction");
    }
  }
  return "filter";
}

const ALL: readonly Highest[] = [
  { architecture: X86_64, number: 450 },
  { architecture: X86, number: 449 },
  { architecture: X32, number: 0x4000_0000 + 440 },
];

it.each<[readonly Highest[], number, number, number | "filter"]>([
  [ALL, X86_64, 0, "filter"],
  [ALL, X86_64, 450, "filter"],
  [ALL, X86_64, 451, ENOSYS],
  [ALL, X86, 449, "filter"],
  [ALL, X86, 450, ENOSYS],
  [ALL, X86_64, 0x4000_0000 + 440, "filter"],
  [ALL, X86_64, 0x4000_0000 + 441, ENOSYS],
  [ALL, X86_64, 0xffff_ffff, "filter"],
  [ALL, 0xc000_00b7, 9999, "filter"],
  [ALL.slice(0, 2), X86_64, 0x4000_0000 + 441, "filter"],
  [ALL.slice(0, 2), X86_64, 0xffff_ffff, "filter"],
  [ALL.slice(0, 1), X86, 9999, "filter"],
  [[{ architecture: X86_64, number: -1 }], X86_64, 9999, "filter"],
  [[], X86_64, 9999, "filter"],
])("%j: call %d %d: %s", (highest, architecture, number, expected) => expect(answer(highest, architecture, number)).toBe(expected));
