#!/usr/bin/env node
/** `runtd`: the daemon, or one file to its end. */
import { type Configuration, configurationOf, USAGE } from "./config.ts";
import { factsOf, log } from "./log.ts";

/** sysexits(3) */
const USAGE_STATUS = 64;

let configuration: Configuration | undefined;
try {
  configuration = configurationOf(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`runtd: ${(error as Error).message}\n${USAGE}`);
  process.exit(USAGE_STATUS);
}
if (configuration === undefined) process.stdout.write(USAGE);
else {
  try {
    if (configuration.once === undefined) await (await import("./serve.ts")).serve(configuration);
    // Containers of other tasks may still be followed: nobody waits for their end.
    else process.exit(await (await import("./once.ts")).runOnce(configuration, configuration.once));
  } catch (error) {
    log("error", "not-started", factsOf(error));
    process.exit(1);
  }
}
