/** What is typed for the container of `runtctl run`. */
import type { ReadStream } from "node:tty";
import { FRAME } from "../../shared/frames/index.ts";
import { ClientError } from "../client.ts";
import { CONTAINER } from "../run/task-text.ts";
import type { Session } from "../session.ts";
import { inTask } from "../tasks.ts";
import { DetachKeys } from "./detach-keys.ts";
import { RemoteProgram, upgraded } from "./streams.ts";
import { takeTerminal } from "./terminal.ts";

/** Sends what is typed to the container. Returns a function that restores the terminal. `leave` is called for ^P ^Q. */
export async function passInput(session: Session, id: string, hasTty: boolean, leave: () => void): Promise<() => void> {
  const { stdin, stdout } = process;
  let socket: Awaited<ReturnType<typeof upgraded>>;
  try {
    socket = await upgraded(session.sockets, inTask(session, id, "attach", { container: CONTAINER, stdin: "true" }));
  } catch (error) {
    // The container has already ended.
    if (error instanceof ClientError && error.code === "container-not-running") return () => {};
    throw error;
  }
  // The output is printed from the log, which has it from the beginning.
  const silent = { write: () => true } as unknown as NodeJS.WriteStream;
  const remote = new RemoteProgram(socket, { stdin, stdout: silent, stderr: silent });
  const tell = (size: object) => void remote.send(FRAME.resize, JSON.stringify(size));
  const terminal = hasTty && stdin.isTTY ? takeTerminal(stdin as ReadStream, stdout, tell) : undefined;
  if (terminal !== undefined) tell(terminal.size);
  const keys = new DetachKeys(leave);
  const typed = (chunk: Buffer) => (terminal === undefined ? chunk : keys.take(chunk));
  // The end of the container is read from the task, not from this connection.
  remote.run({ broken: "the daemon has gone away; the container goes on", typed }).catch(() => {});
  return () => {
    terminal?.restore();
    remote.close();
  };
}
