/** `runtd`: runs the daemon, or one file to its end (`--once`), or converts the store for another version (`migrate`). */
import { type Configuration, configurationOf, USAGE } from "./config.ts";
import { factsOf, log } from "./log.ts";
import { type MigrateOptions, migrateOptionsOf, runMigrate } from "./migrate.ts";

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
