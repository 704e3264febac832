/** The first line of a script, as the kernel reads it (execve(2), interpreter scripts). Pure. */

export interface FirstLine {
  /** "" when nothing follows #!. */
  readonly interpreter: string;
  /** The line ends with CR LF: the kernel takes the CR as part of the last word. */
  readonly carriageReturn: boolean;
}

const BYTE_ORDER_MARK = "\u00ef\u00bb\u00bf";

/** `head`: the beginning of the file, one character a byte. undefined: no script. */
export function parseFirstLine(head: string): FirstLine | undefined {
  if (!head.startsWith("#!")) return undefined;
  const [line = ""] = head.slice(2).split("\n", 1);
  const carriageReturn = line.endsWith("\r");
  const [interpreter = ""] = line.replace(/^[ \t]+/, "").split(/[ \t]/, 1);
  return { interpreter: interpreter.replace(/\r$/, ""), carriageReturn };
}

/** What a file is that is neither ELF nor a script, for the error. */
export function describeOther(head: string): string {
  if (head === "") return "it is empty";
  if (head.startsWith(`${BYTE_ORDER_MARK}#!`)) return "a byte order mark stands before the #! of its first line";
  if (/^\s+#!/.test(head)) return "white space stands before the #! of its first line";
  // Bytes that no text has.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
  if (/[\u0000-\u0008\u000e-\u001a]/.test(head)) return "it is neither a script nor a program (ELF)";
  return "it is a text without #! and an interpreter in its first line";
}
