#!/usr/bin/env node
/** The client of runtd. Exit status: 0, 1 when it failed, 2 for a wrong command line. */
import { type Arguments, parseArguments, UsageError } from "./arguments.ts";
import { type Client, ClientError, clientOf } from "./client.ts";
import { apply } from "./commands/apply.ts";
import { remove } from "./commands/delete.ts";
import { get } from "./commands/get.ts";
import { logs } from "./commands/logs.ts";
import { validate } from "./commands/validate.ts";
import { USAGE } from "./usage.ts";

type Command = (args: Arguments, client: Client) => Promise<number>;

const COMMANDS = new Map<string, Command>(Object.entries({ apply, delete: remove, get, logs, validate }));

async function main(): Promise<number> {
  const args = parseArguments(process.argv.slice(2), process.env);
  if (args === undefined) {
    process.stdout.write(USAGE);
    return 0;
  }
  const command = COMMANDS.get(args.command);
  if (command === undefined) throw new UsageError(`there is no command ${args.command}`);
  return command(args, clientOf(args.socket));
}

process.exitCode = await main().catch((error: Error) => {
  process.stderr.write(`runtctl: ${error.message}\n`);
  if (error instanceof UsageError) process.stderr.write("See runtctl --help.\n");
  else if (!(error instanceof ClientError) && (error as NodeJS.ErrnoException).code === undefined) process.stderr.write(`${error.stack}\n`);
  return error instanceof UsageError ? 2 : 1;
});
