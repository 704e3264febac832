/** Frames that a client sends on an upgraded connection. */
import { z } from "zod";
import { ExecutorError, type SpawnRequest, type TerminalSize } from "../../engine/index.ts";
import { FRAME, type Frame, type StreamStart } from "../../shared/frames/index.ts";
import { boundedJson, firstIssue } from "../../shared/text/index.ts";

const size = z.strictObject({ rows: z.int().min(1).max(65_535), columns: z.int().min(1).max(65_535) });

/** Content of the first frame. */
export const streamStart = z
  .strictObject({
    command: z.tuple([z.string().min(1)], z.string()).describe("Program and arguments."),
    env: z.record(z.string(), z.string()).optional(),
    cwd: z.string().optional(),
    user: z.string().optional(),
    terminal: size.optional().describe("The program gets a terminal of this size; stdout is the output of the terminal."),
    stdin: z.boolean().optional().describe("The client sends data for stdin. Default: stdin is empty."),
  })
  .meta({ id: "StreamStart" }) satisfies z.ZodType<StreamStart>;

/** @throws ExecutorError invalid-argument */
export function startOf({ kind, payload }: Frame): SpawnRequest {
  if (kind !== FRAME.start) throw new ExecutorError("invalid-argument", `the first frame is of kind ${kind}, not ${FRAME.start}`);
  const { success, data, error } = streamStart.safeParse(jsonOf(payload));
  if (!success) throw new ExecutorError("invalid-argument", `the first frame: ${firstIssue(error)}`);
  const { command, env, cwd, user, terminal, stdin } = data;
  const [cmd, ...args] = command;
  return {
    cmd,
    args,
    stdio: { stdin: stdin ? "pipe" : "null" },
    ...(env === undefined ? {} : { env }),
    ...(cwd === undefined ? {} : { cwd }),
    ...(user === undefined ? {} : { user }),
    ...(terminal === undefined ? {} : { pty: terminal }),
  };
}

/** @throws Error */
export function sizeOf(payload: Uint8Array): TerminalSize {
  return size.parse(jsonOf(payload));
}

/** undefined: the payload is not valid JSON, or has more values than any request. */
function jsonOf(payload: Uint8Array): unknown {
  try {
    return boundedJson(Buffer.from(payload).toString());
  } catch {
    return undefined;
  }
}
