/** The client of runtd: runs the verb that the command line names. Exit statuses are in errors.ts. */
import { CommanderError } from "commander";
import { ClientError } from "./client.ts";
import { EXIT, UsageError } from "./errors.ts";
import { exit, run, stderr, version, words } from "./platform/index.ts";
import { programOf } from "./program.ts";
import { separated } from "./separated.ts";
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
    const verbs = verbsAsked(words);
    const program = programOf(verbs, version, (status) => {
      ended = status;
    });
    const [verb, ...others] = verbs;
    await program.parseAsync(verb !== undefined && others.length === 0 ? separated(words, program, verb) : words, { from: "user" });
  } catch (error) {
    exit(reportError(error as Error, words));
  }
  return ended;
}

/** Prints the error in one line, and its hint if there is one. Returns the exit status. */
function reportError(error: Error, words: readonly string[]): number {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return EXIT.done;
    // Without a verb, Commander has printed the help.
    if (error.code !== "commander.help") say(error.message.replace(/^error: /, "").replaceAll("\n", " "), hintFor(error, words));
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
function hintFor({ code, message }: CommanderError, words: readonly string[]): string {
  const [, word = ""] = /^error: unknown command '([^']*)'/.exec(message) ?? [];
  const behind = words.slice(words.indexOf(word) + 1);
  const call = code === "commander.unknownCommand" ? callFor(word, behind) : undefined;
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
  kill: "runtctl stop NAME",
  rm: "runtctl delete NAME",
  rmi: "runtctl images prune",
  rollout: "runtctl restart NAME, or runtctl rollback NAME",
  cp: "runtctl exec NAME tar -c DIRECTORY | tar -x",
  stats: "runtctl top",
  config: "runtctl validate -f compose.yaml",
  info: "runtctl node",
  image: "runtctl images",
  volume: "runtctl volumes",
};

/** What people type behind `docker compose`. */
const OF_COMPOSE: Readonly<Record<string, string>> = {
  up: CALLS["up"]!,
  down: CALLS["down"]!,
  create: "runtctl apply -f compose.yaml",
  ps: "runtctl get -g PROJECT",
  ls: "runtctl get -A",
  logs: "runtctl logs --file compose.yaml",
  build: "runtctl build -f compose.yaml",
  pull: "runtctl apply -f compose.yaml, which pulls the images",
  config: CALLS["config"]!,
  start: "runtctl apply -f compose.yaml",
  stop: "runtctl stop -f compose.yaml",
  kill: "runtctl stop -f compose.yaml",
  restart: "runtctl restart -f compose.yaml",
  rm: CALLS["down"]!,
  exec: "runtctl exec -g PROJECT SERVICE PROGRAM",
  attach: "runtctl attach -g PROJECT SERVICE",
  run: "runtctl run IMAGE PROGRAM",
  port: "runtctl get -g PROJECT",
  top: "runtctl top",
  stats: "runtctl top",
  images: "runtctl images",
  events: "runtctl events -g PROJECT",
  cp: CALLS["cp"]!,
};

/** undefined: the word is no command of these programs. @param behind the words after it */
export function callFor(word: string, behind: readonly string[] = []): string | undefined {
  const of = behind.find((one) => !one.startsWith("-"));
  if (word === "compose" && of !== undefined && Object.hasOwn(OF_COMPOSE, of)) return OF_COMPOSE[of];
  return Object.hasOwn(CALLS, word) ? CALLS[word] : undefined;
}
