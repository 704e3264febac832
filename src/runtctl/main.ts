/** The client of runtd. Its exit statuses are in errors.ts. */
import { readFileSync } from "node:fs";
import { CommanderError } from "commander";
import { ClientError } from "./client.ts";
import { EXIT, UsageError } from "./errors.ts";
import { programOf } from "./program.ts";
import { verbsAsked } from "./verbs-asked.ts";

const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as { version: string };

void main(process.argv.slice(2));

/** A function, because the bundle is no ES module and cannot wait at its top level (tools/bundle-client.ts). */
async function main(words: readonly string[]): Promise<void> {
  try {
    const program = programOf(await verbsAsked(words), version, (status) => {
      process.exitCode = status;
    });
    await program.parseAsync(words, { from: "user" });
  } catch (error) {
    // Exits at once, because requests for other logs may still be open.
    process.exit(told(error as Error));
  }
}

/** Prints the error in one line, and its hint if there is one. Returns the exit status. */
function told(error: Error): number {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return EXIT.done;
    // Without a verb, Commander has printed the help.
    if (error.code !== "commander.help") say(error.message.replace(/^error: /, "").replaceAll("\n", " "), "See runtctl --help.");
    return EXIT.usage;
  }
  if (error instanceof UsageError) {
    say(error.message, "See runtctl --help.");
    return EXIT.usage;
  }
  if (error instanceof ClientError) {
    say(error.message, error.hint);
    return error.exitStatus ?? (error.code === "unreachable" ? EXIT.unreachable : EXIT.failed);
  }
  // An error with a code comes from the system, and its message names the file. Any other error is a defect of this program.
  say((error as NodeJS.ErrnoException).code === undefined ? `${error.stack}` : error.message, undefined);
  return EXIT.failed;
}

function say(message: string, hint: string | undefined): void {
  process.stderr.write(`runtctl: ${message}\n${hint === undefined ? "" : `${hint}\n`}`);
}
