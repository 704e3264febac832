/** A Compose file as `runtctl apply` reads it. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type ComposeFile, parseCompose, projectOf, variablesIn } from "../../src/pod/index.ts";
import { namesIn } from "../../src/runtctl/verbs/compose.ts";
import { type Asked, ENVIRONMENT } from "./oracle.ts";

/** Of the case, and of .env beside the file. */
export function variablesOf({ directory, environment = {} }: Asked): Readonly<Record<string, string | undefined>> {
  const own = { ...ENVIRONMENT, ...environment };
  const usual = join(directory, ".env");
  return existsSync(usual) ? { ...variablesIn(readFileSync(usual, "utf8"), own), ...own } : own;
}

/** undefined: it is no Compose file. */
export function read(asked: Asked): ComposeFile | undefined {
  const { files, directory, profiles = [] } = asked;
  const variables = variablesOf(asked);
  const [first, ...others] = files.map((file) => ({ text: readFileSync(join(directory, file), "utf8"), file }));
  const parsed = (project: string) =>
    parseCompose(
      first!.text,
      {
        environment: { ...variables, COMPOSE_PROJECT_NAME: project },
        directory,
        readFile: (path) => readFileSync(path),
        // The oracle does not look for what is in files of secrets.
        mayLack: true,
        profiles: profiles.length > 0 ? profiles : namesIn(variables["COMPOSE_PROFILES"]),
      },
      others,
    );
  const unnamed = variables["COMPOSE_PROJECT_NAME"] || projectOf(directory);
  const compose = parsed(unnamed);
  return compose?.name === undefined || variables["COMPOSE_PROJECT_NAME"] ? compose : parsed(compose.name);
}
