/** UTF-8 without the host module: what is marshalled is pure. */

/** @throws RangeError for a surrogate without its partner */
export function encodeUtf8(text: string): Uint8Array {
  const ascii = new Uint8Array(text.length);
  return writeAscii(text, ascii, 0) ? ascii : encodeAny(text);
}

/** From `at` on, where there is room for all of it. False: it is not ASCII, and only a part is written. */
export function writeAscii(text: string, bytes: Uint8Array, at: number): boolean {
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit >= 0x80) return false;
    bytes[at + index] = unit;
  }
  return true;
}

function encodeAny(text: string): Uint8Array {
  const bytes: number[] = [];
  for (const character of text) {
    const point = character.codePointAt(0)!;
    if (point >= 0xd800 && point < 0xe000) throw new RangeError("text with half a surrogate pair");
    if (point < 0x80) bytes.push(point);
    else if (point < 0x800) bytes.push(0xc0 | (point >> 6), tail(point));
    else if (point < 0x1_0000) bytes.push(0xe0 | (point >> 12), tail(point >> 6), tail(point));
    else bytes.push(0xf0 | (point >> 18), tail(point >> 12), tail(point >> 6), tail(point));
  }
  return Uint8Array.from(bytes);
}

function tail(bits: number): number {
  return 0x80 | (bits & 0x3f);
}

/** Lead byte -> number of bytes that follow, least code point of this length. */
function shapeOf(lead: number): readonly [number, number] {
  if (lead < 0x80) return [0, 0];
  if (lead >= 0xc0 && lead < 0xe0) return [1, 0x80];
  if (lead >= 0xe0 && lead < 0xf0) return [2, 0x800];
  if (lead >= 0xf0 && lead < 0xf8) return [3, 0x1_0000];
  throw new RangeError("text that is not UTF-8");
}

/** Arguments of a call are on the engine's stack. */
const ARGUMENTS_MOST = 512;
const ASCII = /^[\0-\x7f]*$/;

/** @throws RangeError for anything but the one valid form of each character */
export function decodeUtf8(bytes: Uint8Array): string {
  if (bytes.length > ARGUMENTS_MOST) return decodeAny(bytes);
  const text = String.fromCharCode.apply(null, bytes as unknown as number[]);
  return ASCII.test(text) ? text : decodeAny(bytes);
}

function decodeAny(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; ) {
    const lead = bytes[at++]!;
    const [more, least] = shapeOf(lead);
    let point = more === 0 ? lead : lead & (0x3f >> more);
    for (let count = 0; count < more; count++) {
      const next = bytes[at++] ?? 0;
      if (next >> 6 !== 2) throw new RangeError("text that is not UTF-8");
      point = (point << 6) | (next & 0x3f);
    }
    if (point < least || point > 0x10_ffff || (point >= 0xd800 && point < 0xe000)) throw new RangeError("text that is not UTF-8");
    text += String.fromCodePoint(point);
  }
  return text;
}

export function joinBytes(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
