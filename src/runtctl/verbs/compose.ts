/** Files to apply, of which those for Compose are translated. */
import type { Command } from "commander";
import { UsageError } from "../errors.ts";
import { onNode } from "../platform/index.ts";
import { DEFAULT_GROUP } from "../session.ts";
import { type ComposeFlags, type FileOption, type FileToApply, type Manner, textOf } from "./file.ts";

export function addComposeOptions(command: Command): void {
  command
    .option(
      "-p, --project <name>",
      "for a Compose file: group of its services; default: COMPOSE_PROJECT_NAME, its name, --group, or its directory's name",
    )
    .option("--profile <name>", "for a Compose file: enable services of this profile; may be repeated", and, [])
    .option("--env-file <file>", "for a Compose file: variables from this file instead of .env; may be repeated", and);
}

function and(name: string, before: readonly string[] = []): readonly string[] {
  return [...before, name];
}

/**
 * A Compose file has the key `services` or `include`, which YAML writes as it is or with escapes. Where neither is, the file goes to the daemon as it is: loading the parsers takes longer than all
 * else that this program does.
 */
const MAY_BE_COMPOSE = /services|include|\\[xuU\r\n]/;

/**
 * undefined: the Compose file has errors, which were printed. @param group the one that the user has named
 * @throws UsageError, and errors of reading it
 */
export async function fileToApply(
  options: FileOption & ComposeFlags,
  group: string | undefined,
  manner: Manner = {},
): Promise<FileToApply | undefined> {
  const [first, ...others] = typeof options.file === "string" ? [options.file] : options.file;
  const file = { ...textOf(first!), group: options.project ?? group ?? DEFAULT_GROUP };
  if (MAY_BE_COMPOSE.test(file.text) || others.length > 0) {
    const { translated } = await onNode(() => import("../on-node/compose.ts"));
    const compose = await translated(
      file,
      others.map((one) => textOf(one)),
      { ...options, file: first! },
      { group, ...manner },
    );
    if (compose !== file || others.length === 0) return compose;
    throw new UsageError(`${file.source} is no Compose file: only those are merged with others`);
  }
  return file;
}
