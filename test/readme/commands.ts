/** What a document tells its reader to type: the commands of its fenced blocks and of its running text. */

/** root: as the document's text says or by default. nobody: where the line before the block says "as anyone". */
export type User = "root" | "nobody";

export interface Command {
  /** As it stands there, with its comment; lines that end in a backslash are one. */
  readonly text: string;
  readonly user: User;
  /** From 1. */
  readonly line: number;
  /** What the document shows below it: of `console` blocks only. */
  readonly shown: readonly string[];
  /** In the running text, between backticks. */
  readonly inline: boolean;
}

const ANYONE = /\bas anyone\b/i;
const FENCE = /^```(\w*)/;
/** Languages of blocks that are typed. */
const SHELL: ReadonlySet<string> = new Set(["sh", "bash", "shell"]);
const PROMPT = "$ ";
/** `make x`, `runt help VERB`, `man runt-VERB`; not `--trace FILE`, `config.json`, `create`. */
const INLINE = /`((?:make|runt|man|npm|npx|sudo|git|sh) [^`]+)`/g;

interface Line {
  readonly text: string;
  readonly number: number;
}

/** Commands in the order of the document. Throws Error for a block that does not end. */
export function commandsOf(document: string): Command[] {
  const lines = document.split("\n").map((text, index) => ({ text, number: index + 1 }));
  const found: Command[] = [];
  let paragraph = "";
  for (let at = 0; at < lines.length; at++) {
    const { text = "", number = 0 } = lines[at] ?? {};
    const language = FENCE.exec(text)?.[1];
    if (language === undefined) {
      if (text.trim() !== "") paragraph = text;
      for (const [, command = ""] of text.matchAll(INLINE))
        found.push({ text: command, user: "root", line: number, shown: [], inline: true });
      continue;
    }
    const end = lines.findIndex((line, index) => index > at && line.text.startsWith("```"));
    if (end < 0) throw new Error(`line ${number}: the block does not end`);
    const block = lines.slice(at + 1, end);
    const user = ANYONE.test(paragraph) ? "nobody" : "root";
    if (language === "console") found.push(...ofConsole(block, user));
    else if (SHELL.has(language)) found.push(...ofShell(block, user));
    at = end;
  }
  return found;
}

function ofShell(block: readonly Line[], user: User): Command[] {
  const found: Command[] = [];
  let begun: Line | undefined;
  for (const { text, number } of block) {
    const whole: Line = begun ? { text: `${begun.text}\n${text}`, number: begun.number } : { text, number };
    begun = text.endsWith("\\") ? whole : undefined;
    if (begun || whole.text.trim() === "" || whole.text.trimStart().startsWith("#")) continue;
    found.push({ text: whole.text, user, line: whole.number, shown: [], inline: false });
  }
  return found;
}

function ofConsole(block: readonly Line[], user: User): Command[] {
  const found: { text: string; user: User; line: number; shown: string[]; inline: boolean }[] = [];
  for (const { text, number } of block) {
    if (text.startsWith(PROMPT)) found.push({ text: text.slice(PROMPT.length), user, line: number, shown: [], inline: false });
    else found.at(-1)?.shown.push(text);
  }
  return found;
}

/** Without its comment and with single blanks: the name under which the tables of this directory know it. */
export function nameOf({ text }: Command): string {
  return text
    .replace(/\s+#.*$/, "")
    .replace(/\s+/g, " ")
    .trim();
}
