/** Files to apply. Those for Compose are translated in the client, because they depend on the user's environment and working directory. */
import type { Command } from "commander";
import { renderFinding } from "../../engine/index.ts";
import { isProjectName, parseCompose, projectOf } from "../../pod/index.ts";
import { fileError, UsageError } from "../errors.ts";
import { exists, makeDirectory, printError, realPath, variable, workingDirectory } from "../platform/index.ts";
import { DEFAULT_GROUP } from "../session.ts";
import { type ComposeFlags, type FileOption, type FileToApply, type Manner, textOf } from "./file.ts";
import { joined } from "./joined.ts";
import { bounded, directoryOf } from "./project.ts";
import { envFilesOf, environmentIn, filesOfProject, type Unset, type Variables } from "./project-files.ts";
import { isQuadlet, quadletToApply } from "./quadlet.ts";

/** @param more what `-p` means beside that */
export function addComposeOptions(command: Command, more = ""): void {
  command
    .option(
      "-p, --project <name>",
      `for a Compose file: group of its services; default: COMPOSE_PROJECT_NAME, its name, --group, or its directory's name${more}`,
    )
    .option("--profile <name>", "for a Compose file: enable services of this profile; may be repeated", and, [])
    .option("--env-file <file>", "for a Compose file: variables from this file instead of .env; may be repeated", and);
}

function and(name: string, before: readonly string[] = []): readonly string[] {
  return [...before, name];
}

/**
 * A Compose file has the key `services` or `include`, which YAML writes as it is or with escapes. Where neither is, the file goes to the daemon as it is: parsing it takes longer than all
 * else that this program does.
 */
const MAY_BE_COMPOSE = /services|include|\\[xuU\r\n]/;

/**
 * undefined: the Compose file has errors, which were printed. @param group the one that the user has named
 * @throws UsageError, and errors of reading it
 */
export function fileToApply(options: FileOption & ComposeFlags, group: string | undefined, manner: Manner = {}): FileToApply | undefined {
  if (options.file === undefined) return projectHere(options, group, manner);
  const all = typeof options.file === "string" ? [options.file] : options.file;
  if (all.some(isQuadlet)) return quadletToApply(all, { project: options.project, group, ...manner });
  const [first, ...others] = all;
  const file = { ...textOf(first!), group: options.project ?? group ?? DEFAULT_GROUP };
  if (MAY_BE_COMPOSE.test(file.text) || others.length > 0) {
    const further = others.map((one) => textOf(one));
    const compose = translated(file, further, { ...options, file: first! }, { group, ...manner });
    return compose === file && further.length > 0 ? joined(file, further) : compose;
  }
  return file;
}

/** The project of the working directory. @throws UsageError: there is none; errors of reading it */
function projectHere(flags: ComposeFlags, group: string | undefined, manner: Manner): FileToApply | undefined {
  const outer = environmentIn(workingDirectory(), envFilesOf(flags.envFile), () => {});
  const [first, ...others] = filesOfProject(outer).map((path) => ({ path, ...textOf(path) }));
  const file = { ...first!, group: flags.project ?? group ?? DEFAULT_GROUP };
  const compose = translated(file, others, { ...flags, file: first!.path }, { group, outer, ...manner });
  return compose === file && others.length > 0 ? joined(file, others) : compose;
}

/** For those who only want to know which tasks the file has: what is gone says nothing of that. @throws as bounded */
function boundedIfThere(path: string): Buffer {
  return exists(path) ? bounded(path) : Buffer.from("");
}

/** Names between commas. */
export function namesIn(list = ""): string[] {
  return list
    .split(",")
    .map((name) => name.trim())
    .filter(Boolean);
}

const PROJECT = "COMPOSE_PROJECT_NAME";
interface Asked extends Manner {
  /** The group that the user has named. */
  readonly group: string | undefined;
  /** Variables of the working directory, which take precedence; undefined: the user has named the file. */
  readonly outer?: Variables;
}

/**
 * undefined: the Compose file has errors, which were printed. What is no Compose file stays as it is.
 * @param others files that are merged with it. @throws UsageError, and errors of readFile
 */
function translated(
  file: FileToApply,
  others: readonly Pick<FileToApply, "source" | "text">[],
  options: { readonly file: string } & ComposeFlags,
  { group, outer, mayBeEmpty = false, mayLack = false, isQuiet = false }: Asked,
): FileToApply | undefined {
  const directory = options.file === "-" ? workingDirectory() : directoryOf(options.file);
  const warn = (text: string) => {
    if (!isQuiet) printError(text);
  };
  const listed = envFilesOf(options.envFile);
  const unset: Unset = (source, name) => warn(`${source}: warning: the variable ${name} is not set: it is empty`);
  const variables = environmentIn(directory, isQuiet ? listed?.filter(exists) : listed, unset, outer);
  const asked = options.project ?? (variables[PROJECT] || undefined);
  const parsed = (project: string) =>
    parseCompose(
      file.text,
      {
        environment: { ...variables, [PROJECT]: project },
        images: variable("RUNT_IMAGES") || undefined,
        // The daemon follows no link that is the user's (docs/engine.md), and this one the user has named.
        directory: realPath(directory) ?? directory,
        readFile: isQuiet ? boundedIfThere : bounded,
        // What is there already is found by what the file names, wherever that is.
        mayLack: mayLack || isQuiet,
        profiles: options.profile.length > 0 ? options.profile : namesIn(variables["COMPOSE_PROFILES"]),
      },
      others.map(({ text, source }) => ({ text, file: source })),
    );
  const unnamed = asked ?? group ?? projectOf(directory);
  const first = parsed(unnamed);
  if (first === undefined) return file;
  if (asked !== undefined && !isProjectName(asked))
    throw new UsageError(`${asked} is no name of a project: it has a-z, 0-9, "-" and "_", with a letter or digit first`);
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
    from: realPath(directory),
    isProject: true,
    origin: compose.origin,
    prepare: () => makeMissing(compose.directories),
    builds: compose.builds,
    externals: compose.externals,
  };
}

/** As Compose does. Whoever applies the file owns them. @throws UsageError */
function makeMissing(directories: readonly string[]): void {
  for (const directory of directories) {
    if (exists(directory)) continue;
    try {
      makeDirectory(directory);
    } catch (error) {
      throw new UsageError(fileError(directory, error).message);
    }
    printError(`runtctl: ${directory} was missing, and was made`);
  }
}
