import { describe, expect, it } from "vitest";
import { type Address, addRequest, keptAddress, relabelled } from "./address.ts";
import { type Attribute, encodeMessage, u32 } from "./message.ts";

const HEADER = 16;
const PERMANENT = 0x80;
const text = (value: string) => [...value].map((c) => c.charCodeAt(0));
const TEN: Attribute = [1, [10, 0, 0, 1]];
const CACHE: Attribute = [6, [...u32(0xffff_ffff), ...u32(0xffff_ffff), ...u32(7), ...u32(7)]];

interface Fields {
  readonly flags?: number;
  readonly scope?: number;
  readonly index?: number;
}

function dumped({ flags = PERMANENT, scope = 0, index = 5 }: Fields, attributes: readonly Attribute[] = [TEN, CACHE]): DataView {
  return new DataView(encodeMessage(20, 0, [2, 24, flags, scope, ...u32(index)], attributes), HEADER);
}

describe("keptAddress", () => {
  it("keeps what is permanent and of global scope", () => {
    expect(keptAddress(dumped({}), 5)).toEqual({ family: 2, prefixLength: 24, flags: 0, preferred: 0xffff_ffff, attributes: [TEN] });
  });

  it.each<[string, Fields]>([
    ["of another device", { index: 6 }],
    ["of link scope", { scope: 253 }],
    ["of host scope", { scope: 254 }],
    ["that expires", { flags: 0 }],
  ])("leaves out an address %s", (_, fields) => expect(keptAddress(dumped(fields), 5)).toBeUndefined());

  it("takes the wide flags, and of them those that were asked for", () => {
    // Permanent, stable privacy, no prefix route, no duplicate detection, tentative.
    expect(keptAddress(dumped({ flags: 0 }, [TEN, [8, u32(0x80 | 0x800 | 0x200 | 0x02 | 0x40)]]), 5)?.flags).toBe(0x202);
    expect(keptAddress(dumped({}, [TEN, [8, u32(0)]]), 5)).toBeUndefined();
  });

  it("knows a deprecated one by its flag, and a limit of preference by its time", () => {
    expect(keptAddress(dumped({ flags: PERMANENT | 0x20 }), 5)?.preferred).toBe(0);
    expect(keptAddress(dumped({}, [TEN, [6, [...u32(100), ...u32(0xffff_ffff), ...u32(0), ...u32(0)]]]), 5)?.preferred).toBe(100);
  });

  it("hands on peer, broadcast, metric and origin, and no other attribute", () => {
    const attributes: Attribute[] = [TEN, [2, [10, 0, 0, 2]], [4, [10, 0, 0, 255]], [9, u32(77)], [11, [3]]];
    const kept = keptAddress(dumped({}, [...attributes, [3, [...text("eth0:x"), 0]], [5, u32(1)], [7, u32(1)]]), 5);
    expect(kept?.attributes).toEqual(attributes);
    expect(kept?.label).toEqual(text("eth0:x"));
  });
});

describe("addRequest", () => {
  it("sets again what was kept", () => {
    const address: Address = { family: 2, prefixLength: 24, flags: 0x202, preferred: 0, label: text("n:x"), attributes: [TEN] };
    const request = addRequest(9, address);
    const view = new DataView(request);
    // RTM_NEWADDR; NLM_F_CREATE | NLM_F_EXCL | NLM_F_ACK | NLM_F_REQUEST.
    expect([view.getUint16(4, true), view.getUint16(6, true)]).toEqual([20, 0x605]);
    const again = keptAddress(dumpedFrom(request), 9);
    expect(again).toEqual(address);
  });
});

/** As the kernel would show it: permanent. */
function dumpedFrom(request: ArrayBuffer): DataView {
  const bytes = [...new Uint8Array(request)].slice(HEADER);
  const wide = bytes.findIndex((_, at) => at >= 8 && at % 4 === 0 && bytes[at] === 8 && bytes[at + 1] === 0 && bytes[at + 2] === 8);
  bytes[wide + 4]! |= PERMANENT;
  return new DataView(new Uint8Array(bytes).buffer);
}

describe("relabelled", () => {
  const labelOf = (label: string | undefined, from: string, to: string) => {
    const address: Address = { family: 2, prefixLength: 24, flags: 0, preferred: 0, attributes: [], ...(label && { label: text(label) }) };
    const { label: found } = relabelled(address, text(from), text(to));
    return found && String.fromCharCode(...found);
  };

  it.each([
    ["eth0", "eth0", "net1", "net1"],
    ["eth0:x", "eth0", "net1", "net1:x"],
    ["eth01", "eth0", "net1", "eth01"],
    ["other", "eth0", "net1", "other"],
    ["eth0:12345", "eth0", "a-longer-n", undefined],
    ["eth0:1234", "eth0", "a-longer-n", "a-longer-n:1234"],
    [undefined, "eth0", "net1", undefined],
  ])("%s of %s renamed to %s is %s", (label, from, to, expected) => expect(labelOf(label, from, to)).toBe(expected));
});
