/**
 * Reads the headers of a tar archive (POSIX pax, GNU) and skips the contents. Where the formats leave a choice, it follows Go's archive/tar, with
 * which umoci unpacks. If the two disagreed about what is a header, an entry could escape the checks.
 */

export interface TarEntry {
  readonly name: string;
  readonly link: string;
  /** "0" file, "1" hard link, "2" symbolic link, "3" and "4" devices, "5" directory, ... */
  readonly type: string;
  /** Extended headers of the pax format. */
  readonly pax: ReadonlyMap<string, string>;
}

const BLOCK = 512;
/** Maximum size of one extended header, in bytes. */
const LARGEST_HEADER = 1 << 20;

export class TarError extends Error {
  override readonly name = "TarError";
}

/** Reads an archive that is given in pieces, in order, and calls `onEntry` for each entry. */
export class TarReader {
  readonly #onEntry: (entry: TarEntry) => void;
  #header = Buffer.alloc(0);
  #skip = 0n;
  #extended: { readonly kind: string; readonly size: number; parts: Buffer[]; left: number } | undefined;
  #pax = new Map<string, string>();
  #name: string | undefined;
  #link: string | undefined;

  constructor(onEntry: (entry: TarEntry) => void) {
    this.#onEntry = onEntry;
  }

  /** @throws TarError */
  write(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length) {
      if (this.#extended !== undefined) at = this.#collect(chunk, at);
      else if (this.#skip > 0n) {
        const step = this.#skip < BigInt(chunk.length - at) ? Number(this.#skip) : chunk.length - at;
        this.#skip -= BigInt(step);
        at += step;
      } else {
        const part = chunk.subarray(at, at + BLOCK - this.#header.length);
        this.#header = Buffer.concat([this.#header, part]);
        at += part.length;
        if (this.#header.length === BLOCK) {
          const header = this.#header;
          this.#header = Buffer.alloc(0);
          this.#take(header);
        }
      }
    }
  }

  #collect(chunk: Buffer, at: number): number {
    const extended = this.#extended!;
    const part = chunk.subarray(at, at + extended.left);
    extended.parts.push(part);
    extended.left -= part.length;
    if (extended.left === 0) {
      const content = Buffer.concat(extended.parts).subarray(0, extended.size);
      this.#extended = undefined;
      if (extended.kind === "L") this.#name = textOf(content);
      else if (extended.kind === "K") this.#link = textOf(content);
      else this.#pax = paxOf(content);
    }
    return at + part.length;
  }

  #take(header: Buffer): void {
    if (header.every((byte) => byte === 0)) return;
    checkSum(header);
    const size = sizeOf(header.subarray(124, 136));
    const flag = String.fromCharCode(header[156]!);
    if (flag === "x" || flag === "L" || flag === "K" || flag === "g") {
      if (size > LARGEST_HEADER) throw new TarError(`an extended header has ${size} bytes`);
      const padded = Math.ceil(Number(size) / BLOCK) * BLOCK;
      // Global headers contain nothing that is needed here.
      if (flag === "g") this.#skip = BigInt(padded);
      else if (padded > 0) this.#extended = { kind: flag, size: Number(size), parts: [], left: padded };
      // An extended header replaces an earlier one, even if it is empty.
      else if (flag === "x") this.#pax = new Map();
      return;
    }
    const pax = this.#pax;
    // If a pax value is empty, the value of the plain header is used.
    const name = this.#name || pax.get("path") || shortName(header);
    const link = this.#link || pax.get("linkpath") || textOf(header.subarray(157, 257));
    const type = flag !== "\0" ? flag : name.endsWith("/") ? "5" : "0";
    this.#pax = new Map();
    this.#name = this.#link = undefined;
    const paxSize = pax.get("size");
    const content = paxSize === undefined ? size : /^\d{1,18}$/.test(paxSize) ? BigInt(paxSize) : undefined;
    if (content === undefined) throw new TarError(`the size ${paxSize} is not a number`);
    // Only files have content. The sizes of other entries are ignored.
    if (!"123456".includes(type)) this.#skip = ((content + 511n) / 512n) * 512n;
    this.#onEntry({ name, link, type, pax });
  }
}

function textOf(field: Buffer): string {
  const end = field.indexOf(0);
  return field.subarray(0, end === -1 ? field.length : end).toString();
}

/**
 * Name with its prefix, which is a field of POSIX. In star's format the field is shorter, and in GNU's format times of access and change are at its
 * place.
 */
function shortName(header: Buffer): string {
  const short = textOf(header.subarray(0, 100));
  const magic = header.subarray(257, 265).toString("latin1");
  const isPosix = magic.startsWith("ustar\0");
  const isStar = isPosix && header.subarray(508, 512).toString("latin1") === "tar\0";
  // Some writers use the prefix although their magic number is that of GNU.
  const isGnuWithPrefix = magic === "ustar  \0" && ![345, 357].every((at) => isNumber(header.subarray(at, at + 12)));
  const prefix = isPosix || isGnuWithPrefix ? textOf(header.subarray(345, isStar ? 476 : 500)) : "";
  return prefix === "" ? short : `${prefix}/${short}`;
}

function isNumber(field: Buffer): boolean {
  return (field[0]! & 0x80) !== 0 || /^[0-7]*$/.test(trimmed(field));
}

/** The field without spaces and zero bytes around it. */
function trimmed(field: Buffer): string {
  return field.toString("latin1").replace(/^[ \0]+|[ \0]+$/g, "");
}

/** An octal number, or a binary one if the highest bit is set (GNU). */
function sizeOf(field: Buffer): bigint {
  if (field[0]! & 0x80) {
    const value = field.subarray(1).reduce((sum, byte) => sum * 256n + BigInt(byte), 0n);
    if (field[0] !== 0x80 || value > 1n << 60n) throw new TarError("a size is out of range");
    return value;
  }
  const digits = trimmed(field);
  if (!/^[0-7]*$/.test(digits)) throw new TarError(`the size ${JSON.stringify(digits)} is not a number`);
  return digits === "" ? 0n : BigInt(`0o${digits}`);
}

function checkSum(header: Buffer): void {
  const said = Number.parseInt(textOf(header.subarray(148, 156)).trim(), 8);
  const sum = header.reduce((total, byte, at) => total + (at >= 148 && at < 156 ? 32 : byte), 0);
  const signed = header.reduce((total, byte, at) => total + (at >= 148 && at < 156 ? 32 : (byte << 24) >> 24), 0);
  if (said !== sum && said !== signed) throw new TarError("a header has a wrong checksum");
}

/** Parses records of the form "LENGTH KEY=VALUE\n". */
function paxOf(content: Buffer): Map<string, string> {
  const found = new Map<string, string>();
  for (let at = 0; at < content.length; ) {
    const space = content.indexOf(0x20, at);
    const length = space === -1 ? Number.NaN : Number(content.subarray(at, space).toString());
    if (!Number.isInteger(length) || length <= space - at || at + length > content.length)
      throw new TarError("an extended header is damaged");
    const record = content.subarray(space + 1, at + length - 1).toString();
    const equals = record.indexOf("=");
    found.set(record.slice(0, equals), record.slice(equals + 1));
    at += length;
  }
  return found;
}
