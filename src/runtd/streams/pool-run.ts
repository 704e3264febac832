/** Runs a program in a container of a pool, and connects it to a client. The container ends with the connection. */
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { type Box, EngineError, ExecutorError, ProgramError, RuntimeError, type TakeRequest } from "../../engine/index.ts";
import { FRAME, type Frame, type PoolRunEnd, type PoolRunStart } from "../../shared/frames/index.ts";
import { factsOf, log } from "../log.ts";
import { invalid, runStartOf, takeRequestOf } from "../schemas/pool.ts";
import type { FrameStream } from "./frame-stream.ts";

/** Milliseconds in which a client has to send its files. */
const FILES_MS = 30_000;
/** Milliseconds in which a client has to read what the program has printed, after it has ended. */
const UNREAD_MS = 30_000;
/** Milliseconds between two looks whether a client is there whose input is not read. */
const PROBE_MS = 1_000;
/** The exit status that a shell uses for a program that it cannot start for another reason. */
const NOT_STARTED = 126;

/** Runs until the program has ended or its start has failed. @param most bytes of stdout, and of stderr */
export async function runOn(stream: FrameStream, most: number, take: (request: TakeRequest) => Promise<Box>): Promise<void> {
  const leaving = new AbortController();
  void stream.gone.then(() => leaving.abort(new Error("the client has gone away")));
  try {
    const first = await stream.first();
    if (first === undefined) return;
    const start = runStartOf(first);
    const contents = await filesOf(stream, start);
    if (contents === undefined) return;
    // What comes before the program runs is kept in the connection.
    const box = await take({ ...takeRequestOf(start, contents), signal: leaving.signal });
    try {
      stream.send(FRAME.started);
      stream.onFrame((frame) => obey(frame, box, stream));
      await untilEnd(box, most, stream);
    } finally {
      await box[Symbol.asyncDispose]();
    }
  } catch (error) {
    if (!stream.isGone) stream.send(FRAME.failed, JSON.stringify(failureOf(error)));
  } finally {
    stream.end();
  }
}

/** The contents of all files. undefined: the client has disconnected. @throws EngineError invalid-argument; Error: they do not come in time */
async function filesOf(stream: FrameStream, { files = [] }: PoolRunStart): Promise<Uint8Array | undefined> {
  const contents = new Uint8Array(files.reduce((sum, { bytes }) => sum + bytes, 0));
  const end = performance.now() + FILES_MS;
  for (let at = 0; at < contents.length; ) {
    const frame = await stream.first(Math.max(1, end - performance.now()));
    if (frame === undefined) return undefined;
    const { kind, payload } = frame;
    if (kind !== FRAME.file) throw invalid(`a frame of kind ${kind}: the files have not come yet`);
    if (payload.length > contents.length - at) throw invalid("the files have more bytes than the first frame says");
    contents.set(payload, at);
    at += payload.length;
  }
  return contents;
}

async function untilEnd(box: Box, most: number, stream: FrameStream): Promise<void> {
  const send = (name: "stdout" | "stderr") => stream.sendAll(FRAME[name], Readable.from(box.output(name, most)));
  const copied = Promise.all([send("stdout"), send("stderr")]);
  // Else an error while the end is waited for would be one that nobody handles.
  copied.catch(() => {});
  const probing = setInterval(() => stream.probe(), PROBE_MS).unref();
  const state = await Promise.race([box.wait(), stream.gone]).finally(() => clearInterval(probing));
  // The container is being killed. What cannot be killed does not keep the place of this client: the caller waits for its end for a time that has a bound.
  if (state === undefined) return;
  const { exitCode, oomKilled } = state;
  const late = new AbortController();
  const isRead = await Promise.race([
    copied.then(() => true),
    sleep(UNREAD_MS, false, { ref: false, signal: late.signal }).catch(() => true),
  ]);
  late.abort();
  if (!isRead) {
    stream.cut();
    return;
  }
  const end: PoolRunEnd = { exitCode, oomKilled, endedBy: box.endedBy };
  stream.send(FRAME.end, JSON.stringify(end));
}

function obey({ kind, payload }: Frame, { stdin }: Box, stream: FrameStream): void {
  if (kind === FRAME.stdin) stream.writeTo(stdin, payload);
  else if (kind === FRAME.stdinEnd) stdin?.end();
  else throw new Error(`a frame of kind ${kind} is not for a program in a pool`);
}

function failureOf(error: unknown): { readonly code: string; readonly message: string; readonly exitStatus: number } {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof ProgramError) return { code: error.reason, message, exitStatus: error.shellStatus };
  const isTyped = error instanceof EngineError || error instanceof ExecutorError || error instanceof RuntimeError;
  if (!isTyped) log("error", "pool-run-failed", factsOf(error));
  return { code: isTyped ? error.code : "internal", message, exitStatus: NOT_STARTED };
}
