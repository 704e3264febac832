import { FRAME } from "../../shared/frames/index.ts";
import { EXIT, UsageError } from "../errors.ts";
import { isTerminal, stderr, stdout } from "../platform/index.ts";
import type { Session } from "../session.ts";
import { RemoteProgram, upgraded } from "../streams/streams.ts";
import { DetachKeys, takeTerminal } from "../streams/terminal.ts";
import { inTask } from "../tasks.ts";
import { verb } from "../verb.ts";

interface Options {
  readonly container?: string;
  readonly stdin?: true;
}

export const attach = verb<Options>({
  name: "attach",
  summary: "connect to the standard streams of a running container",
  description: [
    "attach prints the output of the container from now on. With -i, your input goes to the standard input of the container; for this, the task file must have stdin or tty. With tty and -i, the container gets every key except ^P ^Q, and its terminal follows the size of yours.",
    "attach ends with the container's exit status: 128 + N if signal N ended it, 255 if the status is unknown.",
    "The container goes on when runtctl ends: by ^P ^Q (exit status 0), by a signal, or because the connection is lost. Its standard input then stays open for the next attach. The end of your input (^D without tty) is not passed on either. With `stdin: once` in the task file, both close the standard input of the container.",
    "attach reads the output from the log of the container, and shows output without a newline within 0.2 seconds.",
  ],
  examples: [
    ["attach -i web -c shell", "use the terminal of shell; ^P ^Q leaves it"],
    ["attach web -c app", "print the output of app from now on; end with its exit status"],
  ],
  define: (command) =>
    command
      .argument("<name>", "of a task")
      .option("-c, --container <name>", "container of the task; required if it has more than one")
      .option("-i, --stdin", "pass standard input to the container"),
  run: (session, [name = ""], options) => attachTo(session, name, options),
});

interface Shape {
  readonly name: string;
  readonly tty?: boolean;
}

/** Returns the exit status. @throws UsageError, ClientError */
async function attachTo(session: Session, name: string, options: Options): Promise<number> {
  const hasTerminal = options.stdin === true && isTerminal() && (await hasTty(session, name, options.container));
  const query = { container: options.container, stdin: options.stdin ? "true" : undefined };
  const connection = await upgraded(session.sockets, inTask(session, name, "attach", query));
  const remote = new RemoteProgram(connection, { takesStdin: options.stdin === true, stdout, stderr });
  const tell = (size: object) => void remote.send(FRAME.resize, JSON.stringify(size));
  const terminal = hasTerminal ? takeTerminal(tell) : undefined;
  if (terminal !== undefined) tell(terminal.size);
  let leave = () => {};
  const left = new Promise<number>((resolve) => {
    leave = () => resolve(EXIT.done);
  });
  const keys = new DetachKeys(leave);
  try {
    const broken = "the daemon has gone away; the container goes on";
    const typed = (chunk: Uint8Array) => keys.take(chunk);
    return await Promise.race([left, remote.run({ broken, ...(hasTerminal ? { typed } : {}) })]);
  } finally {
    terminal?.restore();
    remote.close();
  }
}

async function hasTty({ client, ...session }: Session, name: string, container: string | undefined): Promise<boolean> {
  const { spec } = await client.call<{ spec: { containers: readonly Shape[] } }>("GET", inTask({ client, ...session }, name, "detail"));
  const own = spec.containers.filter((one) => [undefined, one.name].includes(container));
  if (own.length !== 1) throw new UsageError(`task ${name} has the containers ${spec.containers.map((one) => one.name).join(", ")}`);
  return own[0]!.tty === true;
}
