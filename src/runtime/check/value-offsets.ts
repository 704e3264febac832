/** Where values stand in the text of a JSON document. The parser has taken the document already, so what is not asked for is skipped in long runs. */

interface Wanted {
  offset?: number;
  /** It is one of the pointers itself, not only on the way to one. */
  isAsked?: true;
  readonly parent?: Wanted;
  /** By name, or by index in a list. Objects without a prototype take less time and memory than maps where most have one member. */
  below?: { [name: string]: Wanted };
}

const [QUOTE, BACKSLASH, LIST, LIST_END, OBJECT, OBJECT_END] = [0x22, 0x5c, 0x5b, 0x5d, 0x7b, 0x7d];
/** Up to the next bracket, over at most so many strings: the engine remembers each of them until the match ends. */
const RUN = /[^"{}[\]]*(?:"[^"\\]*"[^"{}[\]]*){0,64}/y;
const SCALAR = /[^,\]}\s]*/y;
const BLANKS = /\s*/y;

/**
 * Offsets of the values at these JSON pointers (RFC 6901), in their order; of a value that is not there, that of the innermost one that should
 * contain it.
 * @param text its beginning is a JSON document
 * @param unique no object in it has two members of one name, so that nothing is read behind the last value that is asked for
 */
export function valueOffsets(text: string, pointers: readonly string[], unique = false): readonly number[] {
  const root: Wanted = {};
  const nodes = pointers.map((pointer) => nodeAt(root, pointer));
  for (const node of nodes) node.isAsked = true;
  scan(text, root, unique ? new Set(nodes).size : Number.POSITIVE_INFINITY);
  return nodes.map(offsetOf);
}

function nodeAt(root: Wanted, pointer: string): Wanted {
  let node = root;
  for (let start = 1; start <= pointer.length; ) {
    const slash = pointer.indexOf("/", start);
    const end = slash < 0 ? pointer.length : slash;
    const token = pointer.slice(start, end);
    const name = token.includes("~") ? token.replaceAll("~1", "/").replaceAll("~0", "~") : token;
    node.below ??= Object.create(null) as { [name: string]: Wanted };
    node = node.below[name] ??= { parent: node };
    start = end + 1;
  }
  return node;
}

function offsetOf(node: Wanted): number {
  let at: Wanted | undefined = node;
  while (at !== undefined && at.offset === undefined) at = at.parent;
  return at?.offset ?? 0;
}

/**
 * Fill in the offset of each that is there.
 * @param asked it ends when it has found so many that are asked for
 */
function scan(text: string, root: Wanted, asked: number): void {
  let left = asked;
  let at = text.charCodeAt(0) === 0xfeff ? 1 : 0;

  const pass = (pattern: RegExp): void => {
    // Behind the end a pattern would begin anew at 0.
    if (at > text.length) return;
    pattern.lastIndex = at;
    pattern.test(text);
    at = pattern.lastIndex;
  };
  const blanks = (): void => {
    if (text.charCodeAt(at) <= 0x20) pass(BLANKS);
  };
  const isEscaped = (quote: number): boolean => {
    let before = quote - 1;
    while (text.charCodeAt(before) === BACKSLASH) before -= 1;
    return (quote - before) % 2 === 0;
  };
  const string = (): void => {
    let end = text.indexOf('"', at + 1);
    while (end >= 0 && isEscaped(end)) end = text.indexOf('"', end + 1);
    at = end < 0 ? text.length : end + 1;
  };
  const nested = (): void => {
    let depth = 0;
    do {
      pass(RUN);
      const found = text.charCodeAt(at);
      if (found === QUOTE) string();
      else {
        depth += found === LIST || found === OBJECT ? 1 : -1;
        at += 1;
      }
    } while (depth > 0 && at < text.length);
  };
  const skip = (): void => {
    const first = text.charCodeAt(at);
    if (first === QUOTE) string();
    else if (first !== LIST && first !== OBJECT) pass(SCALAR);
    else nested();
  };
  /** Over the bracket; true: over the one that closes an empty list or object, too. */
  const isEmpty = (end: number): boolean => {
    at += 1;
    blanks();
    if (text.charCodeAt(at) !== end) return false;
    at += 1;
    return true;
  };
  /** Over a comma: false; over the bracket that closes: true. */
  const closes = (end: number): boolean => {
    blanks();
    const isEnd = text.charCodeAt(at) === end || at >= text.length;
    at += 1;
    if (!isEnd) blanks();
    return isEnd;
  };
  /** Over the name of a member and its colon. */
  const name = (): string => {
    const start = at;
    string();
    const written = text.slice(start, at);
    blanks();
    at += 1;
    blanks();
    return written.includes("\\") ? JSON.parse(written) : written.slice(1, -1);
  };

  const value = (node: Wanted | undefined): void => {
    if (node !== undefined) node.offset = at;
    if (node?.isAsked && --left === 0) {
      at = text.length;
      return;
    }
    const below = node?.below;
    const first = below && text.charCodeAt(at);
    if (first === LIST) {
      if (isEmpty(LIST_END)) return;
      let index = 0;
      do value(below![index++]);
      while (!closes(LIST_END));
    } else if (first === OBJECT) {
      if (isEmpty(OBJECT_END)) return;
      do value(below![name()]);
      while (!closes(OBJECT_END));
    } else skip();
  };

  blanks();
  value(root);
}
