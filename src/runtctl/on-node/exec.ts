/** `runtctl exec`: another program in a container. */
import type { ReadStream } from "node:tty";
import { FRAME } from "../../shared/frames/index.ts";
import { UsageError } from "../errors.ts";
import type { Session } from "../session.ts";
import { inTask } from "../tasks.ts";
import { RemoteProgram, upgraded } from "./streams.ts";
import { takeTerminal, USUAL } from "./terminal.ts";

export interface ExecOptions {
  readonly container?: string;
  readonly stdin?: true;
  readonly tty?: true;
  readonly user?: string;
  readonly workdir?: string;
  readonly env?: readonly string[];
}

/** Returns the exit status. @throws UsageError, ClientError */
export async function execIn(
  session: Session,
  name: string,
  [program = "", ...args]: readonly string[],
  options: ExecOptions,
): Promise<number> {
  const env = environmentOf(options.env ?? []);
  const { stdin, stdout } = process;
  const isTerminal = options.tty === true && stdin.isTTY === true;
  if (options.tty && !options.stdin && isTerminal) throw new UsageError("-t without -i: a terminal that nobody can type into");
  const socket = await upgraded(session.sockets, inTask(session, name, "exec", { container: options.container }));
  const remote = new RemoteProgram(socket, { stdin: options.stdin ? stdin : undefined, stdout, stderr: process.stderr });
  const terminal = isTerminal
    ? takeTerminal(stdin as ReadStream, stdout, (size) => remote.send(FRAME.resize, JSON.stringify(size)))
    : undefined;
  const pass = (signal: NodeJS.Signals) => void remote.send(FRAME.signal, signal);
  if (terminal === undefined) process.on("SIGINT", pass).on("SIGTERM", pass);
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
    process.off("SIGINT", pass).off("SIGTERM", pass);
    remote.close();
  }
}

function environmentOf(assignments: readonly string[]): Record<string, string> | undefined {
  const pairs = assignments.map((text) => {
    const at = text.indexOf("=");
    if (at < 1) throw new UsageError(`-e ${text}: use NAME=VALUE`);
    return [text.slice(0, at), text.slice(at + 1)] as const;
  });
  return pairs.length === 0 ? undefined : Object.fromEntries(pairs);
}
