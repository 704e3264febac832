/** The command line: global options, and the verbs of the table. */
import { Command, type OutputConfiguration } from "commander";
import { socketsIn } from "../client/protocol/index.ts";
import { clientOf } from "./client.ts";
import { stderr, stdout, variable } from "./platform/index.ts";
import { DEFAULT_GROUP } from "./session.ts";
import type { Verb } from "./verb.ts";

interface GlobalOptions {
  readonly socket?: string;
  readonly runDir?: string;
  readonly group?: string;
}

/** @param end called with the exit status of the verb */
export function programOf(verbs: readonly Verb[], version: string, end: (status: number) => void): Command {
  const program = new Command("runtctl")
    .description("Tasks of runtd: groups of containers on this host.")
    .usage("[options] COMMAND ...")
    .option("-s, --socket <file>", "socket of the daemon; default: RUNTD_SOCKET, else admin.sock in the directory of the sockets")
    .option("--run-dir <dir>", "directory of the daemon's sockets; default: /run/runtd")
    .option("-g, --group <name>", "group of the tasks; default: default, and of a Compose file its project")
    .version(version, "-V, --version", "print the version")
    .helpOption("-h, --help", "print this text")
    .helpCommand("help [command]", "print the help of a command")
    // Operands and options of a command are in its own help. Here they would leave no room for its summary.
    .configureHelp({ showGlobalOptions: true, subcommandTerm: (command) => command.name() })
    .addHelpText(
      "after",
      "\nExit status: 0 done, 1 refused or failed, 2 wrong command line,\n3 no daemon answers, 4 plan --exit-code found differences.\n",
    )
    .configureOutput(OUTPUT)
    .exitOverride();
  for (const verb of verbs) add(program, verb, end);
  return program;
}

/** Width of help text if the output is no terminal, as in commander. */
const USUAL_WIDTH = 80;

/** Commander prints through the streams of this program, which keep the order of both. */
const OUTPUT: OutputConfiguration = {
  writeOut: (text) => stdout.write(text),
  writeErr: (text) => stderr.write(text),
  getOutHelpWidth: () => stdout.columns ?? USUAL_WIDTH,
  getErrHelpWidth: () => stderr.columns ?? USUAL_WIDTH,
  // The caller prints errors.
  outputError: () => {},
};

function add(program: Command, verb: Verb, end: (status: number) => void): void {
  const command = program.command(verb.name).summary(verb.summary).description(descriptionOf(verb));
  verb.define(command);
  command.action(async () => {
    const { socket, runDir, group } = program.opts<GlobalOptions>();
    const sockets = socketsIn({ socket, runDir, environment: { RUNTD_SOCKET: variable("RUNTD_SOCKET") } });
    end(
      await verb.run(
        { client: clientOf(sockets), sockets, group: group ?? DEFAULT_GROUP, givenGroup: group },
        command.args,
        command.opts(),
      ),
    );
  });
  if (verb.examples !== undefined)
    command.addHelpText(
      "after",
      `\nExamples:\n${verb.examples.map(([line, what]) => `  runtctl ${line}\n${indented(what)}`).join("\n")}\n`,
    );
}

const INDENT = 6;

/** The text of an example, in lines that fit on the terminal. A word that is longer than a line stays whole. */
function indented(text: string): string {
  const width = (stdout.columns ?? USUAL_WIDTH) - INDENT;
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines.map((line) => `${" ".repeat(INDENT)}${line}`).join("\n");
}

function descriptionOf({ summary, description = [] }: Verb): string {
  return [`${summary[0]!.toUpperCase()}${summary.slice(1)}.`, ...description].join("\n\n");
}
