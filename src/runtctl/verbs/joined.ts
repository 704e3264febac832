/** Several files of tasks or Kubernetes objects, which the daemon gets as one. */
import type { Finding } from "../../engine/index.ts";
import { UsageError } from "../errors.ts";
import { type FileToApply, LARGEST } from "./file.ts";

type Part = Pick<FileToApply, "source" | "text">;

/** Comments and empty lines before the first document. */
const HEAD = /^(?:[ \t]*(?:#[^\n]*)?\r?\n)*/;

/** Objects of one file may refer to those of another one, as under `kubectl apply -f A -f B`. @throws UsageError: together they are too large */
export function joined(first: FileToApply, others: readonly Part[]): FileToApply {
  const parts: (Part & { readonly line: number })[] = [];
  let text = "";
  for (const part of [first, ...others]) {
    if (text !== "") text += `${text.endsWith("\n") ? "" : "\n"}${separatorOf(part.text)}`;
    parts.push({ ...part, line: text.split("\n").length - 1 });
    text += part.text;
  }
  if (Buffer.byteLength(text) > LARGEST)
    throw new UsageError(`the files together have more than ${LARGEST} bytes, which is the most that the daemon takes`);
  const origin = (finding: Finding): Finding => {
    const part = parts.findLast(({ line }) => line < finding.line)!;
    return { ...finding, line: finding.line - part.line, ...(part === parts[0] ? {} : { file: part.source }) };
  };
  return { ...first, text, origin };
}

/** A directive belongs to the document that follows it, and needs the end of the one before. */
function separatorOf(text: string): string {
  const begin = text.replace(HEAD, "");
  if (begin.startsWith("%")) return "...\n";
  return /^---(?:\s|$)/.test(begin) ? "" : "---\n";
}
