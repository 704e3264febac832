/** The prose of a page, without its code: one block for each paragraph, cell of a table, or paragraph of a man page. */
import remarkGfm from "remark-gfm";
import remarkParse from "remark-parse";
import { unified } from "unified";

export interface Block {
  /** Line of its first character, from 1. */
  readonly line: number;
  readonly kind: "paragraph" | "cell";
  /** Line breaks are those of the page. Inline code is CODE, so that it counts as one word. */
  readonly text: string;
}

/** What this module reads of a node of mdast. */
interface Node {
  readonly type: string;
  readonly value?: string;
  readonly children?: readonly Node[];
  readonly position?: Readonly<{ start: Readonly<{ line: number }>; end: Readonly<{ line: number }> }>;
}

/** What inline code is to the rules. */
export const CODE = "CODE";

export function blocksOfMarkdown(text: string): Block[] {
  return blocksBelow(unified().use(remarkParse).use(remarkGfm).parse(text) as Node);
}

function blocksBelow(node: Node): Block[] {
  if (node.type === "paragraph" || node.type === "tableCell") {
    const kind = node.type === "paragraph" ? "paragraph" : "cell";
    const line = node.position?.start.line ?? 0;
    return kind === "paragraph" ? [{ line, kind, text: plain(node) }] : notesOf(node).map((text) => ({ line, kind, text }));
  }
  return (node.children ?? []).flatMap(blocksBelow);
}

/** The parts of a cell that `<br>` separates: each is a note of its own. */
const notesOf = ({ children = [] }: Node): string[] =>
  children
    .map((child) => (isBreak(child) ? "\0" : plain(child)))
    .join("")
    .split("\0");

const isBreak = ({ type, value = "" }: Node) => type === "html" && value.startsWith("<br");

function plain(node: Node): string {
  switch (node.type) {
    case "text":
      return node.value ?? "";
    case "inlineCode":
      // Code over a line break keeps it, for the numbers of the lines behind it.
      return CODE + "\n".repeat((node.position?.end.line ?? 0) - (node.position?.start.line ?? 0));
    case "break":
      return "\n";
    default:
      return (node.children ?? []).map(plain).join("");
  }
}

/** A man page in roff: paragraphs are separated by macros; examples (.EX to .EE) and the synopsis are code. */
export function blocksOfManual(text: string): Block[] {
  const blocks: Block[] = [];
  let isCode = false;
  let isTerm = false;
  for (const [index, line] of text.split("\n").entries()) {
    if (line.startsWith(".EX") || /^\.SH "?(?:SYNOPSIS|SEE ALSO|FILES)/.test(line)) isCode = true;
    else if (line.startsWith(".EE") || line.startsWith(".SH")) isCode = false;
    const skipped = line === "" || line.startsWith(".") || isCode || isTerm;
    // The line after .TP is the term that the next one explains.
    isTerm = line.startsWith(".TP");
    if (!skipped) blocks.push({ line: index + 1, kind: "paragraph", text: fromRoff(line) });
  }
  return blocks;
}

function fromRoff(line: string): string {
  return line
    .replace(/\\f[BI](.*?)\\f[RP]/g, CODE)
    .replace(/\\f[A-Z]/g, "")
    .replaceAll("\\-", "-")
    .replace(/\\[&|]/g, "")
    .replaceAll("\\(aq", "'")
    .replaceAll("\\e", "\\");
}
