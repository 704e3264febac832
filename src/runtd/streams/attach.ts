/** Connects a client to a running container: the client gets its output, and writes to its standard input. */
import { type Attachment, EngineError, ExecutorError, type LogRecord, TextWriter } from "../../engine/index.ts";
import { FRAME, type Frame } from "../../shared/frames/index.ts";
import { factsOf, log } from "../log.ts";
import { sizeOf } from "../schemas/stream.ts";
import type { FrameStream } from "./frame-stream.ts";

/** The exit status that a shell uses for a program it cannot execute. */
const NOT_ATTACHED = 126;

/** Runs until the container ends or the client disconnects. The container goes on after the client has disconnected. */
export async function attachOn(stream: FrameStream, attach: () => Promise<Attachment>): Promise<void> {
  try {
    const attachment = await attach();
    void stream.gone.then(() => attachment.leave());
    stream.send(FRAME.started);
    stream.onFrame((frame) => obey(frame, attachment, stream));
    await sendOutput(attachment, stream);
    if (!stream.isGone) stream.send(FRAME.end, JSON.stringify({ exitCode: await attachment.ended }));
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const isTyped = error instanceof ExecutorError || error instanceof EngineError;
    if (!isTyped) log("error", "attach-failed", factsOf(error));
    stream.send(FRAME.failed, JSON.stringify({ code: isTyped ? error.code : "internal", message, exitStatus: NOT_ATTACHED }));
  } finally {
    stream.end();
  }
}

async function sendOutput({ output }: Attachment, stream: FrameStream): Promise<void> {
  const text = new TextWriter({ hasTimes: false });
  const kindOf = (record: LogRecord) => (record.stream === "stdout" ? FRAME.stdout : FRAME.stderr);
  for await (const records of output) for (const record of records) await stream.sendNow(kindOf(record), text.render(record));
}

function obey({ kind, payload }: Frame, { stdin, endInput, resize }: Attachment, stream: FrameStream): void {
  switch (kind) {
    case FRAME.stdin:
      stream.writeTo(stdin, payload);
      return;
    case FRAME.stdinEnd:
      endInput();
      return;
    case FRAME.resize:
      try {
        resize(sizeOf(payload));
      } catch (error) {
        // The container has no terminal, or has just ended.
        if (!(error instanceof ExecutorError && error.code === "wrong-state")) throw error;
      }
      return;
    default:
      throw new Error(`a frame of kind ${kind} is not for a container`);
  }
}
