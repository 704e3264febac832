/** What files that are translated in the client have in common: their directory, the project that it names, and the files that they name. */
import { readFile, workingDirectory } from "../platform/index.ts";

/** In bytes: a file that another one names. */
const LARGEST_PART = 1024 * 1024;

/** @throws Error: the file is too large; the errors of the system calls */
export function bounded(path: string): Buffer {
  const bytes = Buffer.from(readFile(path, LARGEST_PART));
  if (bytes.length > LARGEST_PART) throw new Error(`it has more than ${LARGEST_PART} bytes`);
  return bytes;
}

/** Absolute, with its links. */
export function directoryOf(file: string): string {
  const parts: string[] = [];
  for (const part of (file.startsWith("/") ? file : `${workingDirectory()}/${file}`).split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return `/${parts.slice(0, -1).join("/")}`;
}
