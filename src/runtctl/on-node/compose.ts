/** Compose files are translated in the client, because they depend on the user's environment and working directory. */
import { existsSync, mkdirSync, realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import type { variablesIn as Variables } from "../../pod/index.ts";
import { fileError, UsageError } from "../errors.ts";
import { printError, readFile } from "../platform/index.ts";
import type { ComposeFlags, FileToApply, Manner } from "../verbs/file.ts";

/** In bytes: a file that a Compose file names. */
const LARGEST_PART = 1024 * 1024;

/** @throws Error: the file is too large; the errors of the system calls */
function bounded(path: string): Buffer {
  const bytes = Buffer.from(readFile(path, LARGEST_PART));
  if (bytes.length > LARGEST_PART) throw new Error(`it has more than ${LARGEST_PART} bytes`);
  return bytes;
}

/** Variables from the files, else from .env beside the Compose file; those of the user's environment take precedence. @throws UsageError */
function environmentIn(
  directory: string,
  files: readonly string[] | undefined,
  variablesIn: typeof Variables,
  unset: (file: string, name: string) => void,
): Readonly<Record<string, string | undefined>> {
  const usual = join(directory, ".env");
  const values: Record<string, string | undefined> = {};
  for (const file of files ?? (existsSync(usual) ? [usual] : [])) {
    try {
      const text = bounded(file).toString();
      Object.assign(
        values,
        variablesIn(text, { ...values, ...process.env }, undefined, (name) => unset(file, name)),
      );
    } catch (error) {
      throw new UsageError(fileError(file, error).message);
    }
  }
  return { ...values, ...process.env };
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

interface Asked extends Manner {
  /** The group that the user has named. */
  readonly group: string | undefined;
}

/**
 * undefined: the Compose file has errors, which were printed. What is no Compose file stays as it is.
 * @param others files that are merged with it. @throws UsageError, and errors of readFile
 */
export async function translated(
  file: FileToApply,
  others: readonly Pick<FileToApply, "source" | "text">[],
  options: { readonly file: string } & ComposeFlags,
  { group, mayBeEmpty = false, isQuiet = false }: Asked,
): Promise<FileToApply | undefined> {
  const { parseCompose, renderFinding, variablesIn } = await (await import("./parsers.ts")).compose();
  const directory = options.file === "-" ? process.cwd() : dirname(resolve(options.file));
  const warn = (text: string) => {
    if (!isQuiet) printError(text);
  };
  const environment = environmentIn(directory, options.envFile, variablesIn, (source, name) =>
    warn(`${source}: warning: the variable ${name} is not set: it is empty`),
  );
  const asked = options.project ?? (environment[PROJECT] || undefined);
  const parsed = (project: string) =>
    parseCompose(
      file.text,
      {
        environment: { ...environment, [PROJECT]: project },
        images: process.env["RUNT_IMAGES"] || undefined,
        directory,
        readFile: bounded,
        profiles: [...options.profile, ...(process.env["COMPOSE_PROFILES"] ?? "").split(",").filter(Boolean)],
      },
      others.map(({ text, source }) => ({ text, file: source })),
    );
  const unnamed = asked ?? group ?? projectOf(directory);
  const first = parsed(unnamed);
  if (first === undefined) return file;
  const project = asked ?? first.name ?? unnamed;
  // The name of the file is known now, and may be a variable in it.
  const compose = project === unnamed ? first : parsed(project)!;
  for (const { message, ...finding } of compose.warnings) warn(renderFinding({ ...finding, message: `warning: ${message}` }, file.source));
  if (compose.findings.length > 0) {
    for (const finding of compose.findings) printError(renderFinding(finding, file.source));
    return undefined;
  }
  if (project === "") throw new UsageError(`${directory} gives the project no name: use -p NAME`);
  if (compose.inputs.length === 0 && !mayBeEmpty)
    throw new UsageError(`${file.source}: no service is switched on: name a profile with --profile`);
  return {
    source: file.source,
    text: compose.inputs.map((one) => JSON.stringify(one)).join("\n---\n"),
    group: project,
    from: realpathSync(directory),
    isProject: true,
    origin: compose.origin,
    prepare: () => makeMissing(compose.directories),
  };
}

/** As Compose does. Whoever applies the file owns them. @throws UsageError */
function makeMissing(directories: readonly string[]): void {
  for (const directory of directories) {
    if (existsSync(directory)) continue;
    try {
      mkdirSync(directory, { recursive: true });
    } catch (error) {
      throw new UsageError(fileError(directory, error).message);
    }
    printError(`runtctl: ${directory} was missing, and was made`);
  }
}
