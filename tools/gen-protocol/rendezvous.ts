/** What the runtime and the helper tell each other while a plan is executed: messages, the shared page, the times of a trace. */
import { constant, enumeration, head, header, identifier, macro } from "./c.ts";
import type { Protocol } from "./protocol.ts";

export function messagesHeader({ MESSAGES, MESSAGE_HEAD }: Protocol): string {
  return header("messages", enumeration("message_type", "MESSAGE", MESSAGES), head("message_head", MESSAGE_HEAD));
}

export function pageHeader({ PAGE_BYTES, PAGE_WORD }: Protocol): string {
  return header("page", macro("PAGE_BYTES", PAGE_BYTES), enumeration("page_word", "PAGE", PAGE_WORD));
}

/** Words by their places; places without a name are reserved. */
function words(places: Readonly<Record<string, number>>, count: number): string[] {
  return Array.from({ length: count }, (_, place) => {
    const name = Object.keys(places).find((key) => places[key] === place);
    return `  uint64_t ${name === undefined ? `reserved_${place}` : identifier(name)};`;
  });
}

export function traceAreaHeader({ TRACE_ENTRY, TRACE_ENTRY_WORDS, TRACE_HEAD, TRACE_HEAD_WORDS, UNTIMED }: Protocol): string {
  return header(
    "trace_area",
    macro(constant("TRACE", "untimed"), UNTIMED),
    ["struct trace_times {", ...words(TRACE_ENTRY, TRACE_ENTRY_WORDS), "};"].join("\n"),
    ["struct trace_area {", ...words(TRACE_HEAD, TRACE_HEAD_WORDS), "  struct trace_times operations[];", "};"].join("\n"),
  );
}
