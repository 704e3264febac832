/** Parses the head of an HTTP/1 answer. Whatever deviates from RFC 9112 is refused. */
import { ASK, askError } from "./contract.ts";

/** Length of the body in bytes, or how its end is recognised. */
export type Extent = number | "chunked" | "close";

export interface Head {
  readonly status: number;
  readonly extent: Extent;
  /** Whether the connection can be used again after the body. */
  readonly isKept: boolean;
}

/** Maximum length in bytes. */
const LONGEST = 64 * 1024;
const BEGIN = "HTTP/1.";
const STATUS = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [^\r\n\0]*)?$/;
const FIELD = /^([!#$%&'*+\-.^_`|~\dA-Za-z]+):[ \t]*([^\r\n\0]*)$/;
const LENGTH = /^\d{1,15}$/;
const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 304]);

/** Length of the head with its empty line; undefined: the head is not complete. @throws Error: the bytes are no answer */
export function endOfHead(bytes: Uint8Array): number | undefined {
  for (let at = 0; at < Math.min(BEGIN.length, bytes.length); at++) if (bytes[at] !== BEGIN.charCodeAt(at)) throw askError(ASK.garbled);
  for (let at = bytes.indexOf(0x0a); at !== -1 && at < LONGEST; at = bytes.indexOf(0x0a, at + 1))
    if (bytes[at - 1] === 0x0d && bytes[at - 2] === 0x0a && bytes[at - 3] === 0x0d) return at + 1;
  if (bytes.length >= LONGEST) throw askError(ASK.garbled);
  return undefined;
}

/** @param text head with its empty line. @throws Error: it is no valid head */
export function parseHead(text: string): Head {
  const [first = "", ...lines] = text.slice(0, -4).split("\r\n");
  const [, minor, status] = STATUS.exec(first) ?? [];
  if (status === undefined) throw askError(ASK.garbled);
  const fields = lines.map((line) => FIELD.exec(line) ?? []);
  if (fields.some(([whole]) => whole === undefined)) throw askError(ASK.garbled);
  const valuesOf = (name: string) =>
    fields.flatMap(([, field = "", value = ""]) => (field.toLowerCase() === name ? value.trim().toLowerCase() : []));
  const extent = extentOf(Number(status), valuesOf("content-length"), valuesOf("transfer-encoding"));
  const isKept = minor === "1" && extent !== "close" && !valuesOf("connection").includes("close");
  return { status: Number(status), extent, isKept };
}

function extentOf(status: number, lengths: readonly string[], codings: readonly string[]): Extent {
  const [length, ...others] = lengths;
  // Two statements of the length could be understood in two ways.
  if (others.length > 0 || (length !== undefined && (codings.length > 0 || !LENGTH.test(length)))) throw askError(ASK.garbled);
  if (codings.length > 0 && codings.join() !== "chunked") throw askError(ASK.garbled);
  if (status < 200 || WITHOUT_BODY.has(status)) return 0;
  if (codings.length > 0) return "chunked";
  return length === undefined ? "close" : Number(length);
}
