/**
 * Parses JSON from clients in bounded time. For many small values, V8's parser needs far more time and memory than for other texts of the same
 * length.
 */

const MOST_LEVELS = 100;
/** Maximum number of values in a request of the daemon's API. The largest requests contain names of tasks. */
const MOST_VALUES = 20_000;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;

/** undefined: the text has more values or levels than allowed. @throws SyntaxError: the text is no JSON */
export function boundedJson(text: string, mostValues = MOST_VALUES): unknown {
  return isBounded(text, mostValues) ? JSON.parse(text) : undefined;
}

/** Looks at each character once. The result is meaningless if the text is no JSON, which JSON.parse then reports. */
function isBounded(text: string, mostValues: number): boolean {
  let levels = 0;
  let values = 1;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if (code === COMMA) values++;
    // "[" and "{" differ in one bit, and so do "]" and "}".
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
