import { z } from "zod";
import { type Attachment, EngineError, ExecutorError, type LogRecord, TextWriter } from "../../engine/index.ts";
import { FRAME, type Frame } from "../../shared/frames/index.ts";
import { streamRoute } from "../http/route.ts";
import { factsOf, log } from "../log.ts";
import { inGroup, taskParams } from "../schemas/names.ts";
import { sizeOf } from "../schemas/stream.ts";
import type { FrameStream } from "../streams/frame-stream.ts";

export const attachToTask = streamRoute({
  method: "get",
  path: "/v1/tasks/{name}/attach",
  operation: "attachToTask",
  access: "admin",
  summary: "Attach this connection to the streams of a running container",
  description:
    "The request needs `Connection: Upgrade` and `Upgrade: runtd-stream/1`. The frames are those of `execInTask`, without the first one of the client. The daemon sends 16, then the output of the container from " +
    "now on (17, 18), and 19 at its end. The client sends 1 (bytes for stdin) and 3 (size of the terminal). 2 is the end of stdin for a container with `stdin: once`, and has no effect on others. If the client disconnects, " +
    "the container goes on.",
  params: taskParams,
  query: inGroup.extend({
    container: z.string().optional().describe("Required if the task has more than one container."),
    stdin: z
      .enum(["true", "false"])
      .default("false")
      .describe("true: the client sends data for stdin. The container needs `stdin` or `tty` for this."),
  }),
  answer: { status: 101, description: "The connection now carries frames" },
  errors: ["unknown-task", "unknown-container", "container-not-running", "no-stdin", "no-log", "upgrade-required", "too-many"],
  open({ engine, params: { name }, query: { group, container, stdin } }) {
    const options = { stdin: stdin === "true" };
    engine.attachable(name, group, container, options);
    return (stream) => attachOn(stream, () => engine.attach(name, group, container, options));
  },
});

/** Connects a client to a running container: the client gets its output, and writes to its standard input. */

/** The exit status that a shell uses for a program it cannot execute. */
const NOT_ATTACHED = 126;

/** Runs until the container ends or the client disconnects. The container goes on after the client has disconnected. */
async function attachOn(stream: FrameStream, attach: () => Promise<Attachment>): Promise<void> {
  try {
    const attachment = await attach();
    void stream.gone.then(() => attachment.leave());
    stream.send(FRAME.started);
    stream.onFrame((frame) => obey(frame, attachment, stream));
    await sendOutput(attachment, stream);
    // Its output may have ended before the container.
    const end = await Promise.race([attachment.ended.then((exitCode) => ({ exitCode })), stream.gone]);
    if (end !== undefined) stream.send(FRAME.end, JSON.stringify(end));
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
