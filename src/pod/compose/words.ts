/** Splits a command string into words like a shell, without expansion. Source: mattn/go-shellwords 1.0.12, which Compose uses. */

export interface Words {
  readonly words: readonly string[];
  /** What follows the first operator of a shell, with the operator. Empty: there is none. */
  readonly left: string;
}

const SPACES = " \t\r\n";
const OPERATORS = ";&|<>";

/** @throws Error: a quote is not closed, or there is a parenthesis, which only a shell understands */
export function wordsOf(text: string): Words {
  const words: string[] = [];
  let word: string | undefined;
  /** The quote in which the text is. ")" is the end of "$(...)". */
  let quote: string | undefined;
  let at = 0;
  for (; at < text.length; at++) {
    let char = text[at]!;
    if (char === "\\" && quote !== "'") {
      char = text[++at] ?? unclosed();
    } else if (char === quote) {
      quote = undefined;
      if (char === "'" || char === '"') continue;
    } else if (quote === undefined) {
      if (SPACES.includes(char)) {
        if (word !== undefined) words.push(word);
        word = undefined;
        continue;
      }
      if (char === "'" || char === '"') {
        quote = char;
        word ??= "";
        continue;
      }
      if (OPERATORS.includes(char)) break;
      if (char === ")" || (char === "(" && !word?.endsWith("$"))) throw new Error(`"${char}" is for a shell: write [sh, -c, "..."]`);
      if (char === "`") quote = char;
      else if (char === "(") quote = ")";
    }
    word = (word ?? "") + char;
  }
  if (quote !== undefined) unclosed();
  // A number before ">" is that of a descriptor.
  if (word !== undefined && !(text[at] === ">" && /^\d/.test(word))) words.push(word);
  return { words, left: text.slice(at) };
}

function unclosed(): never {
  throw new Error("a quote is not closed");
}
