/** Decodes a body that is sent in chunks (RFC 9112, 7.1). */
import { ASK, askError } from "./contract.ts";

const NEWLINE = 0x0a;
/** Maximum length in bytes of a line with the size of a chunk. */
const LONGEST_LINE = 1024;
/** Maximum length in bytes of the trailer after the last chunk. */
const LONGEST_TRAILER = 64 * 1024;
const SIZE = /^([\da-f]{1,8})[ \t]*(?:;[^\r\n\0]*)?\r\n$/i;

type Part = "size" | "data" | "end of data" | "trailer" | "nothing";

export class ChunkedBody {
  #part: Part = "size";
  /** Bytes of the current chunk that have not arrived. */
  #left = 0;
  /** The part of a line that has arrived. */
  #line = "";
  #trailer = 0;

  get isWhole(): boolean {
    return this.#part === "nothing";
  }

  /** Returns the data in these bytes. @throws Error: they are no chunks, or follow the end of the body */
  push(bytes: Uint8Array): Uint8Array[] {
    const data: Uint8Array[] = [];
    for (let at = 0; at < bytes.length; ) {
      if (this.#part === "nothing") throw askError(ASK.garbled);
      const piece = this.#part === "data" ? bytes.subarray(at, at + this.#left) : lineIn(bytes, at);
      if (this.#part === "data") data.push(this.#taken(piece));
      else this.#add(piece);
      at += piece.length;
    }
    return data;
  }

  #taken(piece: Uint8Array): Uint8Array {
    this.#left -= piece.length;
    if (this.#left === 0) this.#part = "end of data";
    return piece;
  }

  #add(piece: Uint8Array): void {
    if (this.#line.length + piece.length > LONGEST_LINE) throw askError(ASK.garbled);
    this.#line += String.fromCharCode(...piece);
    if (!this.#line.endsWith("\n")) return;
    this.#part = this.#next(this.#line);
    this.#line = "";
  }

  /** The part that follows this line. */
  #next(line: string): Part {
    if (this.#part === "size") {
      const [, size] = SIZE.exec(line) ?? [];
      if (size === undefined) throw askError(ASK.garbled);
      this.#left = Number.parseInt(size, 16);
      return this.#left === 0 ? "trailer" : "data";
    }
    if (line === "\r\n") return this.#part === "trailer" ? "nothing" : "size";
    this.#trailer += line.length;
    if (this.#part !== "trailer" || !line.endsWith("\r\n") || this.#trailer > LONGEST_TRAILER) throw askError(ASK.garbled);
    return "trailer";
  }
}

/** The bytes from `at` to the end of the line, or to the end of the data. */
function lineIn(bytes: Uint8Array, at: number): Uint8Array {
  const end = bytes.indexOf(NEWLINE, at);
  // A line that is too long is cut here, and refused because of its length.
  return bytes.subarray(at, Math.min(end === -1 ? bytes.length : end + 1, at + LONGEST_LINE + 1));
}
