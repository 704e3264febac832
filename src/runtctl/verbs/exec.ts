import { FRAME } from "../../shared/frames/index.ts";
import { UsageError } from "../errors.ts";
import { isTerminal, onSignals, type SignalName, stderr, stdout } from "../platform/index.ts";
import type { Session } from "../session.ts";
import { RemoteProgram, upgraded } from "../streams/streams.ts";
import { takeTerminal, USUAL } from "../streams/terminal.ts";
import { inTask } from "../tasks.ts";
import { verb } from "../verb.ts";

interface Options {
  readonly container?: string;
  readonly stdin?: true;
  readonly tty?: true;
  readonly user?: string;
  readonly workdir?: string;
  readonly env?: readonly string[];
}

export const exec = verb<Options>({
  name: "exec",
  summary: "run another program in a container",
  description: [
    "The options of exec stand before the program. Words behind the program belong to the program.",
    "exec ends with the exit status of the program: 128 + N if signal N ended it, 127 if the program does not exist, 126 if it cannot be executed.",
    "exec forwards SIGINT and SIGTERM to the program. If runtctl ends first, the program gets SIGHUP. Ten seconds later, the program and its child processes get SIGKILL.",
  ],
  examples: [
    ["exec web ls -l /srv", "run one command"],
    ["exec -it shop -c app sh", "run a shell with a terminal in one of several containers"],
  ],
  operandsBefore: () => 1,
  define: (command) =>
    command
      .argument("<name>", "of a task")
      .argument("<command...>", "program and arguments")
      .option(
        "-c, --container <name>",
        "container of the task; required if more than one is essential and kubectl.kubernetes.io/default-container names none",
      )
      .option("-i, --stdin", "pass standard input to the program")
      .option("-t, --tty", "allocate a terminal")
      .option("-u, --user <user>", "user as name or uid, with optional :group; default: that of the container")
      .option("-w, --workdir <dir>", "working directory in the container")
      .option("-e, --env <name=value>", "set an environment variable; may be repeated", (text: string, before: string[] = []) => [
        ...before,
        text,
      ]),
  run: (session, [name = "", ...command], options) => execIn(session, name, command, options),
});

/** Returns the exit status. @throws UsageError, ClientError */
async function execIn(session: Session, name: string, [program = "", ...args]: readonly string[], options: Options): Promise<number> {
  const env = environmentOf(options.env ?? []);
  const hasTerminal = options.tty === true && isTerminal();
  if (options.tty && !options.stdin && hasTerminal) throw new UsageError("-t without -i: the terminal would get no input");
  const connection = await upgraded(session.sockets, inTask(session, name, "exec", { container: options.container }));
  const remote = new RemoteProgram(connection, { takesStdin: options.stdin === true, stdout, stderr });
  const terminal = hasTerminal ? takeTerminal((size) => void remote.send(FRAME.resize, JSON.stringify(size))) : undefined;
  const pass = (signal: SignalName) => void remote.send(FRAME.signal, signal);
  const ignoreSignals = terminal === undefined ? onSignals(["SIGINT", "SIGTERM"], pass) : () => {};
  try {
    const start = {
      command: [program, ...args] as const,
      env,
      cwd: options.workdir,
      user: options.user,
      stdin: options.stdin,
      terminal: options.tty ? (terminal?.size ?? USUAL) : undefined,
    };
    return await remote.run({ start, broken: "the daemon has gone away, and the program with it" });
  } finally {
    terminal?.restore();
    ignoreSignals();
    remote.close();
  }
}

export function environmentOf(assignments: readonly string[]): Record<string, string> | undefined {
  const pairs = assignments.map((text) => {
    const at = text.indexOf("=");
    if (at < 1) throw new UsageError(`-e ${text}: use NAME=VALUE`);
    return [text.slice(0, at), text.slice(at + 1)] as const;
  });
  return pairs.length === 0 ? undefined : Object.fromEntries(pairs);
}
