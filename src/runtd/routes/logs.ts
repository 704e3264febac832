/** Streams the log of a container. */
import { z } from "zod";
import { type LogRecord, renderRecord, TextWriter } from "../../engine/index.ts";
import { FRAME, frameOf } from "../../shared/frames/index.ts";
import { refuse } from "../http/errors.ts";
import { textRoute } from "../http/route.ts";
import { inGroup, taskParams } from "../schemas/names.ts";

const flag = z
  .enum(["true", "false"])
  .default("false")
  .transform((value) => value === "true");
const MOST_LINES = 1_000_000;

export const readLogs = textRoute({
  method: "get",
  path: "/v1/tasks/{name}/logs",
  operation: "readLogs",
  access: "read",
  summary: "Read the log of a container",
  description:
    "As text, the answer has the output of the container, byte for byte. Messages of the log itself (dropped lines) begin with [log]. As records, each line or part of a line is " +
    "TIME STREAM F|P BYTES. STREAM is stdout, stderr or runt, and F ends a line. With places, a word before it is the position. A client that repeats the request with from=WORD " +
    "of its last record continues after this record, without a repeated or missing record. The word - means no position. Positions stay valid after a restart of the daemon. " +
    "As frames, the text is in frames of the streams of exec: 17 for stdout, 18 for stderr and for messages of the log. With places, each frame begins with such a word.",
  params: taskParams,
  query: inGroup.extend({
    container: z.string().max(255).optional().describe("Optional if the task has one container."),
    follow: flag.describe("Continue until the container has stopped for good."),
    tail: z.coerce.number().pipe(z.int().min(0).max(MOST_LINES)).optional().describe("Only the last lines."),
    since: z.iso.datetime({ offset: true }).optional().describe("RFC 3339: only lines since this time."),
    timestamps: flag.describe("For text and frames: begin each line with its time."),
    previous: flag.describe("The log of the incarnation before the last restart."),
    format: z.enum(["text", "records", "frames"]).default("text"),
    places: flag.describe("For records and frames: begin each with the position at which the log continues."),
    from: z
      .string()
      .regex(/^\d+-\d+-\d+-\d*$/)
      .optional()
      .describe("With follow: continue at this position; tail is then ignored."),
  }),
  answer: { status: 200, description: "The original bytes", type: "application/octet-stream" },
  errors: ["unknown-task", "unknown-container", "no-log", "too-many"],
  async respond({ engine, subscribers, caller, context, params, query: { group, since, timestamps, format, places, ...rest } }) {
    const reader = new AbortController();
    const sinceMs = since === undefined ? undefined : Date.parse(since);
    const records = engine.logs(params.name, group, { ...rest, sinceMs, signal: reader.signal });
    const place = await subscribers.placeFor(caller);
    if (typeof place === "string") return refuse(context, "too-many", place);
    const text = new TextWriter({ hasTimes: timestamps });
    const each = (render: (one: LogRecord) => Uint8Array) => (some: readonly LogRecord[]) => Buffer.concat(some.map(render));
    const render = {
      text: each((one) => text.render(one)),
      records: each(places ? placedRecord : renderRecord),
      frames: (some: readonly LogRecord[]) => framesOf(some, text, places),
    }[format];
    const body = streamOf(bytesOf(records, render, place), () => reader.abort());
    return new Response(body, { headers: { "content-type": "application/octet-stream" } });
  },
});

function placedRecord(record: LogRecord): Buffer {
  return Buffer.concat([placeOf(record), renderRecord(record)]);
}

function placeOf({ next = "-" }: LogRecord): Buffer {
  return Buffer.from(`${next} `);
}

/** In bytes of records, before a frame is closed; far below LARGEST_FRAME. */
const ENOUGH = 1 << 16;

/** One frame for records of the same stream that follow each other: a client writes each at once, without looking at its lines. */
function framesOf(records: readonly LogRecord[], text: TextWriter, places: boolean): Buffer {
  const frames: Uint8Array[] = [];
  let open: Buffer[] = [];
  let bytes = 0;
  for (const [index, record] of records.entries()) {
    const rendered = text.render(record);
    open.push(rendered);
    bytes += rendered.length;
    const next = records[index + 1];
    const kind = kindOf(record);
    if (next !== undefined && kindOf(next) === kind && bytes < ENOUGH) continue;
    frames.push(frameOf(kind, Buffer.concat(places ? [placeOf(record), ...open] : open)));
    open = [];
    bytes = 0;
  }
  return Buffer.concat(frames);
}

function kindOf({ stream }: LogRecord): typeof FRAME.stdout | typeof FRAME.stderr {
  return stream === "stdout" ? FRAME.stdout : FRAME.stderr;
}

/** Takes a slot at the first read, so that a response that is never read takes none. */
async function* bytesOf(
  records: AsyncGenerator<readonly LogRecord[]>,
  render: (records: readonly LogRecord[]) => Uint8Array,
  place: () => () => void,
): AsyncGenerator<Uint8Array, void, undefined> {
  const free = place();
  try {
    for await (const some of records) yield render(some);
  } finally {
    free();
  }
}

/** Reads the next bytes only after the client has taken the previous ones. */
function streamOf(source: AsyncGenerator<Uint8Array, void, undefined>, leave: () => void): ReadableStream<Uint8Array> {
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await source.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      async cancel() {
        leave();
        await source.return();
      },
    },
    { highWaterMark: 0 },
  );
}
