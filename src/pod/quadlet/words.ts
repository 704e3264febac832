/** Splits a value of a unit file into words. Source: systemd.service(5), "Command lines"; systemd.syntax(7), "Quoting". */

const ESCAPES: Readonly<Record<string, string>> = {
  ...{ a: "\x07", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t", v: "\v", s: " " },
  ...{ "\\": "\\", '"': '"', "'": "'" },
};
const CODE = /x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2})/y;
const LAST_ASCII = 0x7f;
const LAST_CHARACTER = 0x10_ffff;

/** Quotes may surround a word or a part of it. A backslash that begins no escape stays. @throws Error: the text has no such form */
export function wordsIn(text: string): string[] {
  const words: string[] = [];
  let parts: string[] | undefined;
  let quote = "";
  for (let at = 0; at < text.length; at++) {
    const one = text[at]!;
    if (quote === "" && /\s/.test(one)) {
      if (parts !== undefined) words.push(parts.join(""));
      parts = undefined;
      continue;
    }
    parts ??= [];
    if (one === quote) quote = "";
    else if (quote === "" && (one === '"' || one === "'")) quote = one;
    else if (one === "\\") {
      const { made, length } = escapeAt(text, at + 1);
      parts.push(made);
      at += length;
    } else parts.push(one);
  }
  if (quote !== "") throw new Error("a quote is not closed");
  if (parts !== undefined) words.push(parts.join(""));
  return words;
}

function escapeAt(text: string, at: number): { readonly made: string; readonly length: number } {
  const next = text[at];
  if (next === undefined) throw new Error("a backslash ends it");
  const plain = Object.hasOwn(ESCAPES, next) ? ESCAPES[next] : undefined;
  if (plain !== undefined) return { made: plain, length: 1 };
  CODE.lastIndex = at;
  const [all, byte, short, long, octal] = CODE.exec(text) ?? [];
  if (all === undefined) return { made: `\\${next}`, length: 1 };
  const code = octal === undefined ? Number.parseInt((byte ?? short ?? long)!, 16) : Number.parseInt(octal, 8);
  const isByte = byte !== undefined || octal !== undefined;
  if (code === 0 || code > LAST_CHARACTER || (isByte && code > LAST_ASCII) || (code >= 0xd800 && code <= 0xdfff))
    throw new Error(`\\${all} is no character: write it as it is`);
  return { made: String.fromCodePoint(code), length: all.length };
}

/** "a=b" and "c=d e" of a list of pairs. A word without "=" has an undefined value. */
export function pairIn(word: string): readonly [name: string, value: string | undefined] {
  const at = word.indexOf("=");
  return at < 0 ? [word, undefined] : [word.slice(0, at), word.slice(at + 1)];
}
