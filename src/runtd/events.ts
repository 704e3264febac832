/** The journal as server-sent events: `id` is the sequence number, and whoever comes back goes on after the last one it has. */

import type { Context } from "hono";
import { type SSEStreamingApi, streamSSE } from "hono/streaming";
import type { Engine } from "../engine/index.ts";

const PAGE = 256;

/** `?after=N` or Last-Event-ID; with neither, from now on. An event "gap" says that some in between are gone. */
export function eventStream(context: Context, engine: Engine): Response {
  const asked = context.req.query("after") ?? context.req.header("last-event-id");
  const after = asked === undefined ? engine.lastSequence : Number(asked);
  if (!Number.isSafeInteger(after) || after < 0) {
    return context.json({ code: "invalid-argument", message: `after: ${asked} is no sequence number` }, 400);
  }
  return streamSSE(context, (stream) => follow(stream, engine, after));
}

/**
 * A slow reader holds up nobody: the journal is read when the reader has taken what was written before, and nothing is queued for it.
 */
async function follow(stream: SSEStreamingApi, engine: Engine, start: number): Promise<void> {
  let after = start;
  let wake = () => {};
  const unsubscribe = engine.onCommit(() => wake());
  stream.onAbort(() => wake());
  try {
    while (!stream.aborted) {
      const committed = new Promise<void>((resolve) => {
        wake = resolve;
      });
      const { entries, gap } = engine.events(after, PAGE);
      if (gap)
        await stream.writeSSE({ event: "gap", data: JSON.stringify({ after, next: entries[0]?.sequence ?? engine.lastSequence + 1 }) });
      for (const { sequence, content } of entries) {
        await stream.writeSSE({ id: String(sequence), event: (JSON.parse(content) as { type: string }).type, data: content });
      }
      after = entries.at(-1)?.sequence ?? (gap ? engine.lastSequence : after);
      if (entries.length < PAGE) await committed;
    }
  } finally {
    unsubscribe();
  }
}
