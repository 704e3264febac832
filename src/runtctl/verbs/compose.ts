/** Compose files are translated in the client, because they depend on the user's environment and working directory. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { Command } from "commander";
import type { variablesIn as Variables } from "../../pod/index.ts";
import { UsageError } from "../errors.ts";
import { type FileOption, textOf } from "./file.ts";

export interface ComposeFlags {
  readonly project?: string;
  readonly profile: readonly string[];
}

export function addComposeOptions(command: Command): void {
  command
    .option("-p, --project <name>", "for a Compose file: group of its services; default: its name, or else --group")
    .option("--profile <name>", "for a Compose file: enable services of this profile; may be repeated", and, []);
}

function and(name: string, before: readonly string[]): readonly string[] {
  return [...before, name];
}

export interface FileToApply {
  readonly source: string;
  /** The file in the format of the daemon. */
  readonly text: string;
  readonly group: string;
}

/** Variables from .env beside the file; those of the user's environment take precedence. @throws UsageError */
function environmentIn(directory: string, variablesIn: typeof Variables): Readonly<Record<string, string | undefined>> {
  const file = join(directory, ".env");
  if (!existsSync(file)) return process.env;
  try {
    return { ...variablesIn(readFileSync(file, "utf8"), process.env), ...process.env };
  } catch (error) {
    throw new UsageError(`${file}: ${(error as Error).message}`);
  }
}

/**
 * A Compose file has the key `services`, which YAML writes as it is or with escapes. Where neither is, the file goes to the daemon as it is: loading the parsers takes longer than all
 * else that this program does.
 */
const MAY_BE_COMPOSE = /services|\\/;

/** undefined: the Compose file has errors, which were printed. @throws the errors of readFileSync */
export async function fileToApply(options: FileOption & ComposeFlags, group: string): Promise<FileToApply | undefined> {
  const { source, text } = textOf(options);
  if (!MAY_BE_COMPOSE.test(text)) return { source, text, group: options.project ?? group };
  const { parseCompose, variablesIn } = await import("../../pod/index.ts");
  const directory = options.file === "-" ? process.cwd() : dirname(resolve(options.file));
  const compose = parseCompose(text, {
    environment: environmentIn(directory, variablesIn),
    images: process.env["RUNT_IMAGES"] || undefined,
    directory,
    readFile: (path) => readFileSync(path),
    profiles: [...options.profile, ...(process.env["COMPOSE_PROFILES"] ?? "").split(",").filter(Boolean)],
  });
  if (compose === undefined) return { source, text, group: options.project ?? group };
  if (compose.findings.length > 0) {
    const { renderFinding } = await import("../../engine/index.ts");
    for (const finding of compose.findings) console.error(renderFinding(finding, source));
    return undefined;
  }
  return {
    source,
    text: compose.inputs.map((one) => JSON.stringify(one)).join("\n---\n"),
    group: options.project ?? compose.name ?? group,
  };
}
