/**
 * MessagePack, as far as the forward protocol of Fluentd needs it: an encoder of what is sent, and a decoder of short answers with bounds, because a receiver may send anything. Pure.
 * Source: MessagePack specification, "Formats".
 */

export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

export function packString(text: Buffer | string): Buffer {
  const bytes = Buffer.from(text);
  if (bytes.length < 32) return Buffer.concat([Buffer.from([0xa0 | bytes.length]), bytes]);
  return Buffer.concat([Buffer.from([0xdb]), uint32(bytes.length), bytes]);
}

/** @param parts of each the value is packed already */
export function packArray(parts: readonly Buffer[]): Buffer {
  const head = parts.length < 16 ? Buffer.from([0x90 | parts.length]) : Buffer.concat([Buffer.from([0xdd]), uint32(parts.length)]);
  return Buffer.concat([head, ...parts]);
}

/** @param pairs of each the value is packed already */
export function packMap(pairs: readonly (readonly [string, Buffer])[]): Buffer {
  const head = pairs.length < 16 ? Buffer.from([0x80 | pairs.length]) : Buffer.concat([Buffer.from([0xdf]), uint32(pairs.length)]);
  return Buffer.concat([head, ...pairs.flatMap(([key, value]) => [packString(key), value])]);
}

export function packNumber(value: number): Buffer {
  return Buffer.concat([Buffer.from([0xce]), uint32(value)]);
}

/** Texts are bytes, because they need not be UTF-8. */
export type Unpacked = null | boolean | number | Buffer | readonly Unpacked[] | ReadonlyMap<string, Unpacked>;

/** Values within each other. */
const MOST_LEVELS = 4;

/** The value at the beginning, and its length in bytes; undefined: more bytes are needed. @throws Error: it is none that an answer has */
export function unpack(bytes: Buffer): { readonly value: Unpacked; readonly length: number } | undefined {
  const reader = new Reader(bytes);
  try {
    const value = reader.value(0);
    return { value, length: reader.at };
  } catch (error) {
    if (error instanceof TooShort) return undefined;
    throw error;
  }
}

class TooShort extends Error {}

class Reader {
  readonly #bytes: Buffer;
  at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  value(level: number): Unpacked {
    if (level > MOST_LEVELS) throw new Error("values are within each other too deeply");
    const head = this.#take(1)[0]!;
    if (head < 0x80) return head;
    if (head < 0x90) return this.#map(head & 0x0f, level);
    if (head < 0xa0) return this.#array(head & 0x0f, level);
    if (head < 0xc0) return this.#take(head & 0x1f);
    if (head >= 0xe0) return head - 0x100;
    switch (head) {
      case 0xc0:
        return null;
      case 0xc2:
      case 0xc3:
        return head === 0xc3;
      case 0xc4:
      case 0xd9:
        return this.#take(this.#number(1));
      case 0xc5:
      case 0xda:
        return this.#take(this.#number(2));
      case 0xc6:
      case 0xdb:
        return this.#take(this.#number(4));
      case 0xcc:
        return this.#number(1);
      case 0xcd:
        return this.#number(2);
      case 0xce:
        return this.#number(4);
      case 0xdc:
        return this.#array(this.#number(2), level);
      case 0xdd:
        return this.#array(this.#number(4), level);
      case 0xde:
        return this.#map(this.#number(2), level);
      case 0xdf:
        return this.#map(this.#number(4), level);
      default:
        throw new Error(`byte 0x${head.toString(16)} begins no value of an answer`);
    }
  }

  #take(length: number): Buffer {
    if (this.at + length > this.#bytes.length) throw new TooShort();
    this.at += length;
    return this.#bytes.subarray(this.at - length, this.at);
  }

  #number(length: number): number {
    return this.#take(length).readUIntBE(0, length);
  }

  /** Each part has at least a byte, so that a count says nothing of memory. */
  #array(count: number, level: number): readonly Unpacked[] {
    const parts: Unpacked[] = [];
    for (let index = 0; index < count; index++) parts.push(this.value(level + 1));
    return parts;
  }

  #map(count: number, level: number): ReadonlyMap<string, Unpacked> {
    const map = new Map<string, Unpacked>();
    for (let index = 0; index < count; index++) {
      const key = this.value(level + 1);
      map.set(Buffer.isBuffer(key) ? key.toString() : String(key), this.value(level + 1));
    }
    return map;
  }
}
