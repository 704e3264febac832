/** Compose files are translated in the client, because they depend on the user's environment and working directory. */
import { existsSync, realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
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

const PROJECT = "COMPOSE_PROJECT_NAME";
/** A group has at most so many characters. */
const LONGEST = 63;

/** The project that a directory is without another name. Source: Compose, NormalizeProjectName; as the name of a group it ends with a letter or digit, too. */
export function projectOf(directory: string): string {
  const allowed = basename(directory)
    .toLowerCase()
    .replaceAll(/[^-_a-z0-9]/g, "");
  return allowed
    .replace(/^[-_]+/, "")
    .slice(0, LONGEST)
    .replace(/[-_]+$/, "");
}

/**
 * undefined: the Compose file has errors, which were printed. What is no Compose file stays as it is.
 * @param group the one that the user has named. @throws UsageError, and errors of readFile
 */
export async function translated(
  file: FileToApply,
  options: FileOption & ComposeFlags,
  group: string | undefined,
): Promise<FileToApply | undefined> {
  const { parseCompose, renderFinding, variablesIn } = await (await import("./parsers.ts")).compose();
  const directory = options.file === "-" ? process.cwd() : dirname(resolve(options.file));
  const environment = environmentIn(directory, variablesIn);
  const asked = options.project ?? (environment[PROJECT] || undefined);
  const parsed = (project: string) =>
    parseCompose(file.text, {
      environment: { ...environment, [PROJECT]: project },
      images: process.env["RUNT_IMAGES"] || undefined,
      directory,
      readFile: bounded,
      profiles: [...options.profile, ...(process.env["COMPOSE_PROFILES"] ?? "").split(",").filter(Boolean)],
    });
  const unnamed = asked ?? group ?? projectOf(directory);
  const first = parsed(unnamed);
  if (first === undefined) return file;
  const project = asked ?? first.name ?? unnamed;
  // The name of the file is known now, and may be a variable in it.
  const compose = project === unnamed ? first : parsed(project)!;
  if (compose.findings.length > 0) {
    for (const finding of compose.findings) printError(renderFinding(finding, file.source));
    return undefined;
  }
  if (project === "") throw new UsageError(`${directory} gives the project no name: use -p NAME`);
  return {
    source: file.source,
    text: compose.inputs.map((one) => JSON.stringify(one)).join("\n---\n"),
    group: project,
    from: realpathSync(directory),
    isProject: true,
    origin: compose.origin,
  };
}
