/** The part of Node's Buffer that the client uses. The build puts it in the place of the global one. */
import { utf8Decode, utf8Encode } from "runt:client";
import { repaired } from "./repaired.ts";

/** Arguments of a call are on the engine's stack. */
const ARGUMENTS_MOST = 512;

class Bytes extends Uint8Array {
  override toString(encoding: "utf8" | "latin1" = "utf8", start = 0, end = this.length): string {
    const part = this.subarray(start, end);
    if (encoding === "latin1") return latin1(part);
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

export const Buffer = {
  from(data: string | Uint8Array): Bytes {
    return typeof data === "string" ? new Bytes(utf8Encode(data)) : Buffer.concat([data]);
  },
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
