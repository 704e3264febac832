/** `runtctl attach`: the standard streams of a container. */
import type { ReadStream } from "node:tty";
import { FRAME } from "../../shared/frames/index.ts";
import { EXIT, UsageError } from "../errors.ts";
import type { Session } from "../session.ts";
import { inTask } from "../tasks.ts";
import { DetachKeys } from "./detach-keys.ts";
import { RemoteProgram, upgraded } from "./streams.ts";
import { takeTerminal } from "./terminal.ts";

export interface AttachOptions {
  readonly container?: string;
  readonly stdin?: true;
}

interface Shape {
  readonly name: string;
  readonly tty?: boolean;
}

/** Returns the exit status. @throws UsageError, ClientError */
export async function attachTo(session: Session, name: string, options: AttachOptions): Promise<number> {
  const { stdin, stdout } = process;
  const hasTerminal = options.stdin === true && stdin.isTTY === true && (await hasTty(session, name, options.container));
  const query = { container: options.container, stdin: options.stdin ? "true" : undefined };
  const socket = await upgraded(session.sockets, inTask(session, name, "attach", query));
  const remote = new RemoteProgram(socket, { stdin: options.stdin ? stdin : undefined, stdout, stderr: process.stderr });
  const tell = (size: object) => void remote.send(FRAME.resize, JSON.stringify(size));
  const terminal = hasTerminal ? takeTerminal(stdin as ReadStream, stdout, tell) : undefined;
  if (terminal !== undefined) tell(terminal.size);
  let leave = () => {};
  const left = new Promise<number>((resolve) => {
    leave = () => resolve(EXIT.done);
  });
  const keys = new DetachKeys(leave);
  try {
    const broken = "the daemon has gone away; the container goes on";
    const typed = (chunk: Buffer) => keys.take(chunk);
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
