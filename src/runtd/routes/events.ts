/** The journal as server-sent events. The `id` of an event is its sequence number; a client that reconnects continues behind the last event it received. */

import { type SSEStreamingApi, streamSSE } from "hono/streaming";
import { z } from "zod";
import type { Engine, EngineEvent } from "../../engine/index.ts";
import { refuse } from "../http/errors.ts";
import { textRoute } from "../http/route.ts";
import { during } from "../http/slots.ts";

const PAGE = 256;

const sequence = z.coerce.number().pipe(z.int().min(0));

export const followEvents = textRoute({
  method: "get",
  path: "/v1/events",
  operation: "followEvents",
  access: "read",
  summary: "Read the event journal as server-sent events",
  description:
    "`id` is the sequence number. The stream starts after `after`, or else after the header Last-Event-ID, or else now. An event `gap` says that events in between are missing.",
  query: z.object({ after: sequence.optional().describe("The last sequence number that the client has.") }),
  errors: ["too-many"],
  answer: { status: 200, description: "A stream without an end", type: "text/event-stream" },
  async respond({ engine, subscribers, caller, isAdmin, context, query }) {
    const last = context.req.header("last-event-id");
    const { success, data: header } = sequence.optional().safeParse(last);
    if (!success) return refuse(context, "invalid-argument", `Last-Event-ID: ${last} is no sequence number`);
    const after = query.after ?? header ?? engine.lastSequence;
    const place = await subscribers.placeFor(caller);
    if (typeof place === "string") return refuse(context, "too-many", place);
    return streamSSE(context, (stream) => during(place, () => follow(stream, engine, after, isAdmin)));
  },
});

/** Why a watched file is refused, on the socket for reading: the reason may quote the file, and with it a secret. */
export const HIDDEN_REASON = "it was refused: the reason is shown on admin.sock";

function withoutReason(event: EngineEvent): EngineEvent {
  return event.type === "watch" && event.state === "refused" ? { ...event, message: HIDDEN_REASON } : event;
}

/** Reads the journal further only after the client has taken what was written, so that a slow client needs no queue. */
async function follow(stream: SSEStreamingApi, engine: Engine, start: number, isAdmin: boolean): Promise<void> {
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
        const event = JSON.parse(content) as EngineEvent;
        const data = isAdmin ? content : JSON.stringify(withoutReason(event));
        await stream.writeSSE({ id: String(sequence), event: event.type, data });
      }
      after = entries.at(-1)?.sequence ?? (gap ? engine.lastSequence : after);
      if (entries.length < PAGE) await committed;
    }
  } finally {
    unsubscribe();
  }
}
