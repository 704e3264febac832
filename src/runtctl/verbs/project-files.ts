/** The files of a Compose project that the command line does not name, and its variables. Source: compose-go, cli/options.go. */
import { variablesIn } from "../../pod/index.ts";
import { fileError, UsageError } from "../errors.ts";
import { environment, exists, isFile, printError, variable, workingDirectory } from "../platform/index.ts";
import { bounded } from "./project.ts";

/** Names of the file, and of the one that is merged over it. The first that is there counts. */
const NAMES = ["compose.yaml", "compose.yml", "docker-compose.yml", "docker-compose.yaml"];
const OVERRIDES = ["compose.override.yml", "compose.override.yaml", "docker-compose.override.yml", "docker-compose.override.yaml"];

export type Variables = Readonly<Record<string, string | undefined>>;
/** Called with a variable in a file that has no value. */
export type Unset = (file: string, name: string) => void;

/**
 * The files that COMPOSE_FILE names, else those with a usual name in the working directory, or in the nearest directory above it that has one.
 * @param variables those of the working directory @throws UsageError: there is none
 */
export function filesOfProject(variables: Variables, directory = workingDirectory()): readonly string[] {
  const { COMPOSE_FILE: listed = "", COMPOSE_PATH_SEPARATOR: separator } = variables;
  if (listed !== "") return listed.split(separator || ":").map((file) => (file === "-" ? file : under(directory, file)));
  for (let at = directory; ; at = at.slice(0, Math.max(1, at.lastIndexOf("/")))) {
    const file = firstOf(at, NAMES);
    const override = file === undefined ? undefined : firstOf(at, OVERRIDES);
    if (file !== undefined) return override === undefined ? [file] : [file, override];
    if (at === "/") break;
  }
  throw new UsageError(`there is no ${NAMES.join(", ")} in ${directory} or above it: name a file with -f`);
}

function firstOf(directory: string, names: readonly string[]): string | undefined {
  const [first, ...others] = names.map((name) => under(directory, name)).filter(isFile);
  if (others.length > 0) printError(`runtctl: ${first} is read, and not ${others.join(", ")}`);
  return first;
}

function under(directory: string, file: string): string {
  return file.startsWith("/") ? file : `${directory === "/" ? "" : directory}/${file}`;
}

/** Words for true and false. Source: Go, strconv.ParseBool. */
const TRUE = ["1", "t", "T", "TRUE", "true", "True"];
const FALSE = ["0", "f", "F", "FALSE", "false", "False"];

/** The files of --env-file, else those of COMPOSE_ENV_FILES. undefined: .env, if it is there. @throws UsageError */
export function envFilesOf(given: readonly string[] | undefined): readonly string[] | undefined {
  if (given !== undefined) return given;
  const listed = variable("COMPOSE_ENV_FILES");
  if (listed) return listed.split(",");
  const off = variable("COMPOSE_DISABLE_ENV_FILE");
  if (off === undefined || FALSE.includes(off)) return undefined;
  if (!TRUE.includes(off)) throw new UsageError("COMPOSE_DISABLE_ENV_FILE: write true or false");
  return [];
}

/**
 * Variables from the files, else from .env in the directory; those of `earlier` and of the user's environment take precedence.
 * @throws UsageError
 */
export function environmentIn(directory: string, files: readonly string[] | undefined, unset: Unset, earlier: Variables = {}): Variables {
  const usual = under(directory, ".env");
  const own = { ...earlier, ...environment() };
  const values: Record<string, string | undefined> = {};
  for (const file of files ?? (exists(usual) ? [usual] : [])) {
    try {
      const text = bounded(file).toString();
      Object.assign(
        values,
        variablesIn(text, { ...values, ...own }, undefined, (name) => unset(file, name)),
      );
    } catch (error) {
      throw new UsageError(fileError(file, error).message);
    }
  }
  return { ...values, ...own };
}
