/** Compose files are translated in the client, because they depend on the user's environment and working directory. */
import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { variablesIn as Variables } from "../../pod/index.ts";
import { fileError, UsageError } from "../errors.ts";
import { printError, readFile } from "../platform/index.ts";
import type { ComposeFlags, FileOption, FileToApply } from "../verbs/file.ts";

/** In bytes: a file that a Compose file names. */
const LARGEST_PART = 1024 * 1024;

/** @throws Error: the file is too large; the errors of the system calls */
function bounded(path: string): Buffer {
  const bytes = Buffer.from(readFile(path, LARGEST_PART));
  if (bytes.length > LARGEST_PART) throw new Error(`it has more than ${LARGEST_PART} bytes`);
  return bytes;
}

/** Variables from .env beside the file; those of the user's environment take precedence. @throws UsageError */
function environmentIn(directory: string, variablesIn: typeof Variables): Readonly<Record<string, string | undefined>> {
  const file = join(directory, ".env");
  if (!existsSync(file)) return process.env;
  try {
    return { ...variablesIn(bounded(file).toString(), process.env), ...process.env };
  } catch (error) {
    throw new UsageError(fileError(file, error).message);
  }
}

/** undefined: the Compose file has errors, which were printed. What is no Compose file stays as it is. @throws UsageError, and errors of readFile */
export async function translated(file: FileToApply, options: FileOption & ComposeFlags, group: string): Promise<FileToApply | undefined> {
  const { parseCompose, renderFinding, variablesIn } = await (await import("./parsers.ts")).compose();
  const directory = options.file === "-" ? process.cwd() : dirname(resolve(options.file));
  const compose = parseCompose(file.text, {
    environment: environmentIn(directory, variablesIn),
    images: process.env["RUNT_IMAGES"] || undefined,
    directory,
    readFile: bounded,
    profiles: [...options.profile, ...(process.env["COMPOSE_PROFILES"] ?? "").split(",").filter(Boolean)],
  });
  if (compose === undefined) return file;
  if (compose.findings.length > 0) {
    for (const finding of compose.findings) printError(renderFinding(finding, file.source));
    return undefined;
  }
  return {
    source: file.source,
    text: compose.inputs.map((one) => JSON.stringify(one)).join("\n---\n"),
    group: options.project ?? compose.name ?? group,
    origin: compose.origin,
  };
}
