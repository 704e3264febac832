import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { type ExecHandle, ExecutorError, ProgramError, RuntimeError, type SpawnRequest } from "../../engine/index.ts";
import { FRAME, type Frame } from "../../shared/frames/index.ts";
import { streamRoute } from "../http/route.ts";
import { factsOf, log } from "../log.ts";
import { inGroup, taskParams } from "../schemas/names.ts";
import { sizeOf, startOf } from "../schemas/stream.ts";
import type { FrameStream } from "../streams/frame-stream.ts";

export const execInTask = streamRoute({
  method: "get",
  path: "/v1/tasks/{name}/exec",
  operation: "execInTask",
  access: "admin",
  summary: "Run another program in a container, on this connection",
  description:
    "The request needs `Connection: Upgrade` and `Upgrade: runtd-stream/1`. Then both sides send frames: one byte for the kind, four bytes for the length (big-endian), and the content. " +
    "The client begins with 0 (JSON: StreamStart). Then it sends 1 bytes for stdin, 2 end of stdin, 3 size of the terminal (JSON: rows, columns), 4 name of a signal. The daemon " +
    "sends 16 when the program runs, 17 stdout and 18 stderr. At the end it sends 19 (JSON: exitCode), or 20 (JSON: code, message, exitStatus) if the program could not be started. " +
    "If the client disconnects before the end of the output, the program gets SIGHUP. Ten seconds later, the program and its child processes get SIGKILL, also if the program itself has ended.",
  params: taskParams,
  query: inGroup.extend({ container: z.string().optional().describe("Required if the task has more than one container.") }),
  answer: { status: 101, description: "The connection now carries frames" },
  errors: ["unknown-task", "unknown-container", "container-not-running", "upgrade-required", "too-many"],
  open({ engine, params: { name }, query: { group, container } }) {
    engine.running(name, group, container);
    return (stream) => execOn(stream, (request) => engine.spawn(name, group, container, request));
  },
});

/** Runs a further process in a container and connects it to a client. */

/** Milliseconds between SIGHUP and SIGKILL for a program whose client has disconnected. */
const HANGUP_GRACE_MS = 10_000;
/** Milliseconds in which everything ends that got SIGKILL. What waits in the kernel ends later, or never, and does not keep the place of this client. */
const KILLED_MS = 10_000;
/** The exit status that a shell uses for a program that it cannot start for another reason. */
const NOT_STARTED = 126;

/**
 * Runs until the program has ended, or its start has failed, or the client has gone and what the program has started is killed.
 * @param graceMs between SIGHUP and SIGKILL
 */
export async function execOn(
  stream: FrameStream,
  spawn: (request: SpawnRequest) => Promise<ExecHandle>,
  graceMs = HANGUP_GRACE_MS,
): Promise<void> {
  try {
    const first = await stream.first();
    if (first === undefined) return;
    const handle = await spawn(startOf(first));
    stream.send(FRAME.started);
    stream.onFrame((frame) => obey(frame, handle, stream));
    await untilEnd(handle, stream, graceMs);
  } catch (error) {
    stream.send(FRAME.failed, JSON.stringify(failureOf(error)));
  } finally {
    stream.end();
  }
}

async function untilEnd(handle: ExecHandle, stream: FrameStream, graceMs: number): Promise<void> {
  const { stdout, stderr } = handle;
  const copied = Promise.all([stdout && stream.sendAll(FRAME.stdout, stdout), stderr && stream.sendAll(FRAME.stderr, stderr)]);
  const over = copied.then(() => handle.wait());
  over.catch(() => {});
  const end = await Promise.race([over, stream.gone]);
  if (end !== undefined) stream.send(FRAME.end, JSON.stringify({ exitCode: end.exitCode }));
  else await hangUp(handle, over, graceMs);
}

/**
 * Like closing a terminal: sends SIGHUP, and after the grace period SIGKILL to the program and all its descendants. A program that has ended may have left some that keep
 * its output open.
 */
async function hangUp(handle: ExecHandle, over: Promise<unknown>, graceMs: number): Promise<void> {
  const isOver = over.then(
    () => true,
    () => true,
  );
  try {
    await handle.signal("SIGHUP").catch((error) => {
      // The program has ended by itself in the meantime.
      if (!(error instanceof ExecutorError && error.code === "wrong-state")) log("error", "hang-up-failed", factsOf(error));
    });
    if (await Promise.race([isOver, sleep(graceMs, false, { ref: false })])) return;
    const isKilled = handle.kill().then(() => true);
    if (!(await Promise.race([isKilled, sleep(KILLED_MS, false, { ref: false })])))
      log("error", "hang-up-failed", { message: `exec ${handle.id} has not ended within ${KILLED_MS / 1000} s after SIGKILL` });
    isKilled.catch(() => {});
  } catch (error) {
    log("error", "hang-up-failed", factsOf(error));
  } finally {
    // A process outside of the container's cgroup may still have them open.
    handle.stdout?.destroy();
    handle.stderr?.destroy();
  }
}

function obey({ kind, payload }: Frame, handle: ExecHandle, stream: FrameStream): void {
  const { stdin } = handle;
  switch (kind) {
    case FRAME.stdin:
      stream.writeTo(stdin, payload);
      return;
    case FRAME.stdinEnd:
      stdin?.end();
      return;
    case FRAME.resize:
      whileItRuns(() => handle.resize(sizeOf(payload)));
      return;
    case FRAME.signal:
      stream.pauseWhile(signalTo(handle, payload));
      return;
    default:
      throw new Error(`a frame of kind ${kind} is not for a program that runs`);
  }
}

/** In bytes. No signal has a longer name. */
const LONGEST_SIGNAL = 32;

async function signalTo(handle: ExecHandle, payload: Uint8Array): Promise<void> {
  try {
    await handle.signal(Buffer.from(payload.subarray(0, LONGEST_SIGNAL)).toString());
  } catch (error) {
    log("info", "signal-not-sent", factsOf(error));
  }
}

/** Input for a program that has already ended is dropped. */
function whileItRuns(action: () => void): void {
  try {
    action();
  } catch (error) {
    if (!(error instanceof ExecutorError && error.code === "wrong-state")) throw error;
  }
}

function failureOf(error: unknown): { readonly code: string; readonly message: string; readonly exitStatus: number } {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof ProgramError) return { code: error.reason, message, exitStatus: error.shellStatus };
  const isTyped = error instanceof ExecutorError || error instanceof RuntimeError;
  if (!isTyped) log("error", "exec-failed", factsOf(error));
  return { code: isTyped ? error.code : "internal", message, exitStatus: NOT_STARTED };
}
