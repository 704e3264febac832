/** What is typed for the container of `runtctl run`. */
import { FRAME } from "../../shared/frames/index.ts";
import { ClientError } from "../client.ts";
import { isTerminal } from "../platform/index.ts";
import type { Session } from "../session.ts";
import { DetachKeys } from "../streams/detach-keys.ts";
import { RemoteProgram, upgraded } from "../streams/streams.ts";
import { takeTerminal } from "../streams/terminal.ts";
import { inTask } from "../tasks.ts";
import { CONTAINER } from "./task-text.ts";

/** Sends what is typed to the container. Returns a function that restores the terminal. `leave` is called for ^P ^Q. */
export async function passInput(session: Session, id: string, hasTty: boolean, leave: () => void): Promise<() => void> {
  let connection: Awaited<ReturnType<typeof upgraded>>;
  try {
    connection = await upgraded(session.sockets, inTask(session, id, "attach", { container: CONTAINER, stdin: "true" }));
  } catch (error) {
    // The container has already ended.
    if (error instanceof ClientError && error.code === "container-not-running") return () => {};
    throw error;
  }
  // The output is printed from the log, which has it from the beginning.
  const remote = new RemoteProgram(connection, { takesStdin: true, stdout: undefined, stderr: undefined });
  const tell = (size: object) => void remote.send(FRAME.resize, JSON.stringify(size));
  const terminal = hasTty && isTerminal() ? takeTerminal(tell) : undefined;
  if (terminal !== undefined) tell(terminal.size);
  const keys = new DetachKeys(leave);
  const typed = (chunk: Uint8Array) => (terminal === undefined ? chunk : keys.take(chunk));
  // The end of the container is read from the task, not from this connection.
  remote.run({ broken: "the daemon has gone away; the container goes on", typed }).catch(() => {});
  return () => {
    terminal?.restore();
    remote.close();
  };
}
