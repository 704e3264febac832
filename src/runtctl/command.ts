/** The client of runtd: runs the verb that the command line names. Exit statuses are in errors.ts. */
import { CommanderError } from "commander";
import { ClientError } from "./client.ts";
import { EXIT, UsageError } from "./errors.ts";
import { exit, run, stderr, version, words } from "./platform/index.ts";
import { programOf } from "./program.ts";
import { verbsAsked } from "./verbs-asked.ts";

/** Runs the verb, and ends the process. */
export function runtctl(): never {
  // An error that cannot be printed, for example for lack of memory, still gives an exit status of failure.
  void command(words(), version).then(exit, () => exit(EXIT.failed));
  return run();
}

/** Returns the exit status. After an error the process ends at once, because requests for other logs may still be open. */
async function command(words: readonly string[], version: string): Promise<number> {
  let ended: number = EXIT.done;
  try {
    const program = programOf(verbsAsked(words), version, (status) => {
      ended = status;
    });
    await program.parseAsync(words, { from: "user" });
  } catch (error) {
    exit(reportError(error as Error));
  }
  return ended;
}

/** Prints the error in one line, and its hint if there is one. Returns the exit status. */
function reportError(error: Error): number {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return EXIT.done;
    // Without a verb, Commander has printed the help.
    if (error.code !== "commander.help") say(error.message.replace(/^error: /, "").replaceAll("\n", " "), hintFor(error));
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
  say((error as Partial<ClientError>).code === undefined ? `${error}\n${error.stack}` : error.message, undefined);
  return EXIT.failed;
}

/** A hint for the error. For a command that other programs have, it names the call of runtctl that does the same. */
function hintFor({ code, message }: CommanderError): string {
  const [, word = ""] = /^error: unknown command '([^']*)'/.exec(message) ?? [];
  const call = code === "commander.unknownCommand" ? callFor(word) : undefined;
  return call === undefined ? "See runtctl --help." : `Use ${call}. See runtctl --help.`;
}

function say(message: string, hint: string | undefined): void {
  stderr.write(`runtctl: ${message}\n${hint === undefined ? "" : `${hint}\n`}`);
}

/** Commands of docker, podman and kubectl, and the calls of runtctl that do the same. */
const CALLS: Readonly<Record<string, string>> = {
  up: "runtctl apply -f compose.yaml --wait",
  down: "runtctl delete -f compose.yaml",
  compose: "runtctl apply -f compose.yaml, runtctl get, runtctl logs, runtctl delete -f compose.yaml",
  play: "runtctl apply -f FILE",
  create: "runtctl apply -f FILE, or runtctl run -d IMAGE",
  ps: "runtctl get",
  ls: "runtctl get",
  list: "runtctl get",
  inspect: "runtctl describe NAME, or runtctl get NAME -o json",
  kill: "runtctl stop NAME",
  rm: "runtctl delete NAME",
  rmi: "runtctl images prune",
  rollout: "runtctl restart NAME, or runtctl rollback NAME",
  cp: "runtctl exec NAME -- tar -c DIRECTORY | tar -x",
  stats: "runtctl top",
  config: "runtctl validate -f compose.yaml",
  info: "runtctl node",
  image: "runtctl images",
  volume: "runtctl volumes",
};

/** undefined: the word is no command of these programs. */
export function callFor(word: string): string | undefined {
  return Object.hasOwn(CALLS, word) ? CALLS[word] : undefined;
}
