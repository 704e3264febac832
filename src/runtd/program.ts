/** `runtd`: runs the daemon, runs the tasks of a file to their end (`--once`), or converts the store for another version (`migrate`). */

import { existsSync } from "node:fs";
import { parseArgs } from "node:util";
import { migrateStore, renderFinding } from "../engine/index.ts";
import { type Configuration, configurationOf, STATE_DIR, valuesOf } from "./config.ts";
import type { ReadConfig } from "./config-file.ts";
import { factsOf, log } from "./log.ts";
import { CONFIG_FILE, type Values } from "./options.ts";
import { USAGE } from "./usage.ts";

/** Source: sysexits(3). */
const EXIT = { usage: 64, config: 78 } as const;

const [verb, ...rest] = process.argv.slice(2);
if (verb === "migrate") {
  const migration = await migrateOptionsOf(rest);
  try {
    process.stdout.write(`${runMigrate(migration)}\n`);
  } catch (error) {
    log("error", "not-migrated", factsOf(error));
    process.exit(1);
  }
} else {
  const values = orUsage(() => valuesOf(process.argv.slice(2)));
  if (values.help) process.stdout.write(USAGE);
  else if (values["config-schema"]) process.stdout.write(`${JSON.stringify((await import("./config-file.ts")).configSchema(), null, 2)}\n`);
  else {
    // The tasks of --once are no tasks of the daemon, which has its own state directory.
    const file = values.once && values.config === undefined ? undefined : await configOrExit(values.config);
    const configuration = merged(values, file);
    if (values["check-config"])
      process.stdout.write(file === undefined ? `there is no ${CONFIG_FILE}; the options are valid\n` : `${file.path} is valid\n`);
    else await run(configuration);
  }
}

async function run(configuration: Configuration): Promise<void> {
  try {
    if (configuration.once === undefined) await (await import("./serve.ts")).serve(configuration);
    // Monitors of other tasks may keep the event loop alive; they need not be waited for.
    else process.exit(await (await import("./once.ts")).runOnce(configuration, configuration.once));
  } catch (error) {
    log("error", "not-started", factsOf(error));
    process.exit(1);
  }
}

/** The options take precedence over the file. Ends the program if they are wrong, or do not go together. */
function merged(values: Values, file: ReadConfig | undefined): Configuration {
  try {
    return configurationOf({ ...file?.settings, ...values });
  } catch (error) {
    const { message } = error as Error;
    if (file === undefined || errorOf(() => configurationOf(values))?.message === message) return endWithUsage(message);
    return endWithConfig(`${file.path}: ${message}`);
  }
}

function errorOf(act: () => unknown): Error | undefined {
  try {
    act();
    return undefined;
  } catch (error) {
    return error as Error;
  }
}

function orUsage<T>(act: () => T): T {
  try {
    return act();
  } catch (error) {
    return endWithUsage((error as Error).message);
  }
}

/** undefined: no file is named, and the usual one does not exist. Ends the program if the file is wrong. */
async function configOrExit(path: string | undefined): Promise<ReadConfig | undefined> {
  // The schema of the file takes time to make, and most hosts have no file.
  if (path === undefined && !existsSync(CONFIG_FILE)) return undefined;
  let read: ReadConfig | undefined;
  try {
    read = (await import("./config-file.ts")).readConfig(path);
  } catch (error) {
    return endWithConfig((error as Error).message);
  }
  const findings = read?.findings ?? [];
  if (findings.length > 0) endWithConfig(findings.map((one) => renderFinding(one, read!.path)).join("\nruntd: "));
  return read;
}

function endWithUsage(message: string): never {
  process.stderr.write(`runtd: ${message}\n${USAGE}`);
  process.exit(EXIT.usage);
}

function endWithConfig(message: string): never {
  process.stderr.write(`runtd: ${message}\n`);
  process.exit(EXIT.config);
}

/** `runtd migrate --to VERSION`: converts the store for an older program, or back. */
interface MigrateOptions {
  readonly stateDir: string;
  readonly to: number;
}

/** Parses the arguments after `migrate`. Ends the program if they are wrong. */
async function migrateOptionsOf(args: readonly string[]): Promise<MigrateOptions> {
  const options = { to: { type: "string" }, "state-dir": { type: "string" }, config: { type: "string" } } as const;
  const { values } = orUsage(() => parseArgs({ args: [...args], options }));
  if (values.to === undefined) return endWithUsage("migrate needs --to VERSION");
  if (!/^[1-9]\d{0,5}$/.test(values.to)) return endWithUsage(`to: ${values.to} is no version`);
  const stateDir = values["state-dir"] ?? (await configOrExit(values.config))?.settings["state-dir"] ?? STATE_DIR;
  return { stateDir, to: Number(values.to) };
}

/** Returns a line for the user that says what was done. @throws the errors of migrateStore */
function runMigrate({ stateDir, to }: MigrateOptions): string {
  const { path, from, copy } = migrateStore(stateDir, to);
  return copy === undefined ? `${path} is of version ${to}` : `${path}: from version ${from} to ${to}; what was there before is in ${copy}`;
}
