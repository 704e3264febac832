/** The parts of Buffer, TextDecoder, URL, atob and btoa that the client and its parsers use. The build replaces Node's globals with these. */
import { utf8Decode, utf8Encode } from "runt:client";
import { isV6 } from "../run/address.ts";
import { repaired } from "./repaired.ts";

/** Maximum number of arguments of one call, which are on the stack of the JavaScript engine. */
const ARGUMENTS_MOST = 512;

class Bytes extends Uint8Array {
  /** @throws Error: another encoding is asked for */
  override toString(encoding: "utf8" | "latin1" | "base64" = "utf8", start = 0, end = this.length): string {
    const part = this.subarray(start, end);
    if (encoding === "latin1") return latin1(part);
    if (encoding === "base64") return toBase64(part);
    if (encoding !== "utf8") throw new Error(`the client has no encoding ${String(encoding)}`);
    try {
      return utf8Decode(part.buffer as ArrayBuffer, part.byteOffset, part.length);
    } catch {
      return repaired(part);
    }
  }
}

function latin1(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += ARGUMENTS_MOST)
    text += String.fromCharCode.apply(null, bytes.subarray(at, at + ARGUMENTS_MOST) as unknown as number[]);
  return text;
}

const BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
/** Bits of one character of base64. */
const BITS = 6;

/** Decodes base64 like Node: also the alphabet for URLs, and other characters are skipped. */
function fromBase64(text: string): Bytes {
  const bytes: number[] = [];
  let [value, bits] = [0, 0];
  for (const one of text.replaceAll("-", "+").replaceAll("_", "/")) {
    const digit = BASE64.indexOf(one);
    if (digit < 0) continue;
    value = ((value << BITS) | digit) & 0xffff;
    bits += BITS;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push((value >> bits) & 0xff);
  }
  return new Bytes(bytes);
}

function toBase64(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 3) {
    const three = (bytes[at]! << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0);
    for (let digit = 0; digit < 4; digit++)
      text += at * 8 + digit * BITS < bytes.length * 8 ? BASE64[(three >> (18 - digit * BITS)) & 63] : "=";
  }
  return text;
}

export const Buffer = {
  /** @throws Error: another encoding is asked for */
  from(data: string | Uint8Array, encoding: "utf8" | "base64" = "utf8"): Bytes {
    if (typeof data !== "string") return Buffer.concat([data]);
    if (encoding !== "utf8" && encoding !== "base64") throw new Error(`the client has no encoding ${String(encoding)}`);
    return encoding === "base64" ? fromBase64(data) : new Bytes(utf8Encode(data));
  },
  byteLength: (text: string): number => utf8Encode(text).byteLength,
  concat(parts: readonly Uint8Array[]): Bytes {
    const all = new Bytes(parts.reduce((sum, part) => sum + part.length, 0));
    let at = 0;
    for (const part of parts) {
      all.set(part, at);
      at += part.length;
    }
    return all;
  },
};

export class TextDecoder {
  /** @throws TypeError: the bytes are no UTF-8 */
  decode(bytes: Uint8Array): string {
    try {
      return utf8Decode(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.length);
    } catch (error) {
      throw new TypeError("it is no UTF-8", { cause: error });
    }
  }
}

export const URL = {
  /** zod uses this only to check IPv6 addresses. @throws Error: the text is another URL */
  canParse(text: string): boolean {
    const [, address] = /^http:\/\/\[(.*)\]$/s.exec(text) ?? [];
    if (address === undefined) throw new Error(`a URL that is no IPv6 address: ${text}`);
    return isV6(address);
  },
};

export const atob = (text: string): string => fromBase64(text).toString("latin1");
export const btoa = (text: string): string => toBase64(Uint8Array.from(text, (one) => one.charCodeAt(0)));
