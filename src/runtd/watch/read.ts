/** Reads a watched file and what it names, and translates it into tasks. This runs in the thread for files (parsing/worker.ts). */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Finding, ParsedFile } from "../../engine/index.ts";
import { hasServer } from "../../node/index.ts";
import { type ComposeFile, type PodHost, parseCompose, parseFile, projectOf, variablesIn } from "../../pod/index.ts";
import { readTrustedFile, type TrustedFile } from "../trusted-file.ts";

/** In bytes, as for a file of a client. */
const LARGEST = 256 * 1024;
/** In bytes: a file that another one names. */
const LARGEST_PART = 1024 * 1024;

export interface WatchedText {
  readonly file: ParsedFile;
  readonly group: string;
  readonly isProject: boolean;
  readonly networks: readonly string[];
  /** Of the content of all files that were read. */
  readonly digest: string;
  /** Identity of each of these files by its path; null: it did not exist. */
  readonly read: Readonly<Record<string, string | null>>;
  readonly warnings: readonly Finding[];
  /** Why nothing of the file is applied, beside its findings. */
  readonly problems: readonly string[];
}

/** A path is on a mount whose server may not answer, and nobody has asked it. */
export class UnansweredError extends Error {
  override readonly name = "UnansweredError";
  readonly path: string;

  constructor(path: string) {
    super(`${path} is on a mount that was not asked yet`);
    this.path = path;
  }
}

/** @param answered paths whose mounts have just answered. @throws UnansweredError: another one is to be asked; UntrustedFileError; the errors of open(2) and read(2): for the file itself, or one that it names */
export function readWatched(path: string, host: PodHost, answered: readonly string[]): WatchedText {
  const reading = new Reading(answered);
  const text = reading.read(path, LARGEST).toString();
  const directory = dirname(path);
  const compose = composeOf(text, directory, host, reading);
  // A parser makes a finding of what it cannot read.
  if (reading.unanswered !== undefined) throw reading.unanswered;
  const { file, ...about } = compose ?? { file: parseFile(text, host), group: "default", isProject: false, networks: [], problems: [] };
  return {
    ...about,
    // A Compose file also has functions, which no thread can send.
    file: { tasks: file.tasks, findings: file.findings },
    ...reading.result(),
    warnings: file.warnings ?? [],
  };
}

type Project = Pick<WatchedText, "file" | "group" | "isProject" | "networks" | "problems">;

/** undefined: it is no Compose file. */
function composeOf(
  text: string,
  directory: string,
  host: PodHost,
  reading: Reading,
): (Project & { readonly file: ComposeFile }) | undefined {
  // The environment of the daemon is not that of the project's author.
  const variables = variablesIn(reading.readIfThere(join(directory, ".env")).toString(), {}, undefined, () => {});
  const parsed = (project: string) =>
    parseCompose(text, {
      environment: { ...variables, COMPOSE_PROJECT_NAME: project },
      images: host.images,
      directory,
      profiles: (variables["COMPOSE_PROFILES"] ?? "").split(",").flatMap((name) => name.trim() || []),
      readFile: (path) => reading.read(path, LARGEST_PART),
    });
  const asked = variables["COMPOSE_PROJECT_NAME"] || undefined;
  const unnamed = asked ?? projectOf(directory);
  const first = parsed(unnamed);
  if (first === undefined) return undefined;
  const group = asked ?? first.name ?? unnamed;
  // The name of the file is known now, and may be a variable in it.
  const file = group === unnamed ? first : parsed(group)!;
  const missing = file.directories.filter((one) => !reading.hasDirectory(one));
  const problems = [
    ...(group === "" ? [`${directory} gives the project no name: write name: in the file`] : []),
    ...file.builds.map(({ service }) => `service ${service} is built: build it with runtctl build, and name its image`),
    ...missing.map((one) => `the directory ${one} is missing: make it`),
  ];
  return { file, group, isProject: true, networks: file.externals, problems };
}

class Reading {
  readonly #files = new Map<string, TrustedFile | null>();
  readonly #answered: readonly string[];
  unanswered: UnansweredError | undefined;

  constructor(answered: readonly string[]) {
    this.#answered = answered;
  }

  read(path: string, largest: number): Buffer {
    this.#mustAnswer(path);
    const file = this.#files.get(path) ?? readTrustedFile(path, largest);
    this.#files.set(path, file);
    return Buffer.from(file.text);
  }

  /** Empty if there is no such file. */
  readIfThere(path: string): Buffer {
    try {
      return this.read(path, LARGEST_PART);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
      this.#files.set(path, null);
      return Buffer.from("");
    }
  }

  /** Whether there is something at the path. */
  hasDirectory(path: string): boolean {
    this.#mustAnswer(path);
    return existsSync(path);
  }

  #mustAnswer(path: string): void {
    if (this.#answered.includes(path) || !hasServer(path)) return;
    this.unanswered ??= new UnansweredError(path);
    throw this.unanswered;
  }

  result(): Pick<WatchedText, "digest" | "read"> {
    const hash = createHash("sha256");
    for (const [path, file] of this.#files) hash.update(JSON.stringify([path, file?.text ?? null]));
    const read = [...this.#files].map(([path, file]) => [path, file?.identity ?? null]);
    return { digest: `sha256:${hash.digest("hex")}`, read: Object.fromEntries(read) };
  }
}
