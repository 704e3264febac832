/** Decodes UTF-8 with errors in the standard way (https://encoding.spec.whatwg.org/#utf-8-decoder). */

const REPLACEMENT = "\ufffd";

/** For a lead byte, the number of bytes that follow, and the bounds of the first of these. undefined: no character begins with this byte. */
function shapeOf(lead: number): readonly [more: number, low: number, high: number] | undefined {
  if (lead >= 0xc2 && lead <= 0xdf) return [1, 0x80, 0xbf];
  if (lead >= 0xe0 && lead <= 0xef) return [2, lead === 0xe0 ? 0xa0 : 0x80, lead === 0xed ? 0x9f : 0xbf];
  if (lead >= 0xf0 && lead <= 0xf4) return [3, lead === 0xf0 ? 0x90 : 0x80, lead === 0xf4 ? 0x8f : 0xbf];
  return undefined;
}

/** Each invalid part becomes one replacement character. */
export function repaired(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; ) {
    const lead = bytes[at++]!;
    const shape = shapeOf(lead);
    if (shape === undefined) {
      text += lead < 0x80 ? String.fromCharCode(lead) : REPLACEMENT;
      continue;
    }
    let [more, low, high] = shape;
    let point = lead & (0x3f >> more);
    for (; more > 0; more--) {
      const next = bytes[at] ?? 0;
      if (next < low || next > high) break;
      point = (point << 6) | (next & 0x3f);
      [low, high] = [0x80, 0xbf];
      at++;
    }
    text += more === 0 ? String.fromCodePoint(point) : REPLACEMENT;
  }
  return text;
}
