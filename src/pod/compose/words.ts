/** Splits a command string into words like a shell, without expansion. */

const QUOTED = /^'([^']*)'|^"((?:[^"\\]|\\.)*)"|^\\(.)|^[^\s'"\\]+/s;

/** @throws Error: a quote is not closed */
export function wordsOf(text: string): string[] {
  const words: string[] = [];
  let rest = text.trim();
  while (rest !== "") {
    let word = "";
    while (rest !== "" && !/^\s/.test(rest)) {
      const part = QUOTED.exec(rest);
      if (part === null) throw new Error("a quote is not closed");
      const [all, single, double, escaped] = part;
      word += single ?? double?.replace(/\\(["\\$`])/g, "$1") ?? escaped ?? all;
      rest = rest.slice(all.length);
    }
    words.push(word);
    rest = rest.trimStart();
  }
  return words;
}
