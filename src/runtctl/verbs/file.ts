/** The file argument of a verb. */
import type { Command } from "commander";
import { type Finding, renderFinding } from "../../engine/index.ts";
import type { ServiceBuild } from "../../pod/index.ts";
import { ClientError } from "../client.ts";
import { fileError, UsageError } from "../errors.ts";
import { printError, readFile, readInput, realPath } from "../platform/index.ts";

export interface FileOption {
  /** Several files of a Compose project are merged, others taken together. Absent: the Compose files of the working directory. */
  readonly file?: string | readonly string[];
}

export interface ComposeFlags {
  readonly project?: string;
  readonly profile: readonly string[];
  /** Files with variables, instead of .env. */
  readonly envFile?: readonly string[];
}

export interface FileToApply {
  readonly source: string;
  /** The file in the format of the daemon. */
  readonly text: string;
  readonly group: string;
  /** Where it is: its absolute path, or the directory of a Compose project; undefined: the standard input. */
  readonly from?: string | undefined;
  /** Whether the group is a Compose project. */
  readonly isProject?: boolean;
  /** For a file that was translated, or is several: converts a finding about `text` to one about the file. */
  readonly origin?: ((finding: Finding) => Finding) | undefined;
  /** Makes what its tasks need on the host, and says so. @throws UsageError */
  readonly prepare?: (() => void) | undefined;
  /** Images that its tasks need and that are built, in this order. */
  readonly builds?: readonly ServiceBuild[];
  /** Networks that its tasks need and that others make. */
  readonly externals?: readonly string[];
}

export interface Manner {
  /** Whether a file in which no service is switched on is no error. */
  readonly mayBeEmpty?: boolean;
  /** Whether what depends on this host may be missing: then it is told of, and is no error. */
  readonly mayLack?: boolean;
  /** Whether nothing is said of fields without an effect. */
  readonly isQuiet?: boolean;
}

/** As the daemon takes it (src/runtd/serve.ts). */
export const LARGEST = 4 * 1024 * 1024;

export function addFileOption(command: Command): void {
  command.option(
    "-f, --file <file>",
    "tasks, pods or Compose services, as YAML or JSON, or files of Quadlet; a directory with files of Quadlet; - is the standard input; several Compose files are merged, other files are taken together; default: COMPOSE_FILE, or compose.yaml here or above",
    andFile,
  );
}

/** Keeps one file as it is, and several in their order. @throws UsageError: it has no name, as of a variable that is not set */
export function andFile(file: string, before: FileOption["file"]): string | readonly string[] {
  if (file === "") throw new UsageError("the name of a file is empty");
  if (before === undefined) return file;
  return [...(typeof before === "string" ? [before] : before), file];
}

/** @throws UsageError: it is too large; Error: it cannot be read */
export function textOf(file: string): Pick<FileToApply, "source" | "text" | "from"> {
  const source = file === "-" ? "stdin" : file;
  const bytes = bytesOf(file, source);
  if (bytes.length > LARGEST) throw new UsageError(`${source}: it has more than ${LARGEST} bytes, which is the most that the daemon takes`);
  return { source, text: Buffer.from(bytes).toString(), ...(file === "-" ? {} : { from: realPath(file) }) };
}

function bytesOf(file: string, source: string): Uint8Array {
  try {
    return file === "-" ? readInput(LARGEST) : readFile(file, LARGEST);
  } catch (error) {
    throw fileError(source, error);
  }
}

type Source = Pick<FileToApply, "source" | "origin">;

/** The response of the daemon; undefined, after the errors of the file were printed with their positions, if it refuses the file. @throws ClientError */
export async function orFindings<T>({ source, origin = (one) => one }: Source, call: () => Promise<T>): Promise<T | undefined> {
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof ClientError) || error.code !== "invalid-spec") throw error;
    for (const finding of error.body["findings"] as Finding[]) printError(renderFinding(origin(finding), source));
    return undefined;
  }
}
