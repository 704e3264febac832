/** `runtd`: runs the daemon, runs the tasks of a file to their end (`--once`), or converts the store for another version (`migrate`). */

import { parseArgs } from "node:util";
import { migrateStore } from "../engine/index.ts";
import { type Configuration, configurationOf, STATE_DIR, USAGE } from "./config.ts";
import { factsOf, log } from "./log.ts";

/** Source: sysexits(3). */
const USAGE_STATUS = 64;

const [verb, ...rest] = process.argv.slice(2);
let configuration: Configuration | undefined;
let migration: MigrateOptions | undefined;
try {
  if (verb === "migrate") migration = migrateOptionsOf(rest);
  else configuration = configurationOf(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`runtd: ${(error as Error).message}\n${USAGE}`);
  process.exit(USAGE_STATUS);
}
if (migration !== undefined) {
  try {
    process.stdout.write(`${runMigrate(migration)}\n`);
  } catch (error) {
    log("error", "not-migrated", factsOf(error));
    process.exit(1);
  }
} else if (configuration === undefined) process.stdout.write(USAGE);
else {
  try {
    if (configuration.once === undefined) await (await import("./serve.ts")).serve(configuration);
    // Monitors of other tasks may keep the event loop alive; they need not be waited for.
    else process.exit(await (await import("./once.ts")).runOnce(configuration, configuration.once));
  } catch (error) {
    log("error", "not-started", factsOf(error));
    process.exit(1);
  }
}

/** `runtd migrate --to VERSION`: converts the store for an older program, or back. */
interface MigrateOptions {
  readonly stateDir: string;
  readonly to: number;
}

/** Parses the arguments after `migrate`. @throws Error: the arguments are wrong */
function migrateOptionsOf(args: readonly string[]): MigrateOptions {
  const { values } = parseArgs({
    args: [...args],
    options: { to: { type: "string" }, "state-dir": { type: "string", default: STATE_DIR } },
  });
  if (values.to === undefined) throw new Error("migrate needs --to VERSION");
  if (!/^[1-9]\d{0,5}$/.test(values.to)) throw new Error(`to: ${values.to} is no version`);
  return { stateDir: values["state-dir"], to: Number(values.to) };
}

/** Returns a line for the user that says what was done. @throws the errors of migrateStore */
function runMigrate({ stateDir, to }: MigrateOptions): string {
  const { path, from, copy } = migrateStore(stateDir, to);
  return copy === undefined ? `${path} is of version ${to}` : `${path}: from version ${from} to ${to}; what was there before is in ${copy}`;
}
