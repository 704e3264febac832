/** Parses JSON of clients, in bounded time: the parser of V8 takes a multiple of its usual time, and memory, for many small values. */

const MOST_LEVELS = 100;
/** Of a request of the daemon's own interface: its largest have the names of tasks. */
const MOST_VALUES = 20_000;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;

/** undefined: it is no JSON, or has more values or levels than any request has. */
export function boundedJson(text: string, mostValues = MOST_VALUES): unknown {
  return isBounded(text, mostValues) ? JSON.parse(text) : undefined;
}

/** Looks at each character once. Of a text that is no JSON the counts mean nothing. */
function isBounded(text: string, mostValues: number): boolean {
  let levels = 0;
  let values = 1;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if (code === COMMA) values++;
    // "[" and "{", then "]" and "}": they differ in one bit.
    else if ((code | 0x20) === 0x7b) {
      values++;
      if (++levels > MOST_LEVELS) return false;
    } else if ((code | 0x20) === 0x7d) levels--;
    if (values > mostValues) return false;
  }
  return true;
}

function endOfString(text: string, from: number): number {
  for (let at = from + 1; ; ) {
    const end = text.indexOf('"', at);
    if (end < 0) return text.length;
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return end;
    at = end + 1;
  }
}
