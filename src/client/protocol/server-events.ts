/** Takes server-sent events apart. */
import { noDaemon } from "./errors.ts";

/** A server-sent event. */
export interface ServerEvent {
  /** "" if the daemon gives none. */
  readonly event: string;
  readonly id: string;
  readonly data: string;
}

const NEWLINE = 0x0a;
/** Maximum size of an event in bytes, far above that of any event of the daemon. */
const LONGEST = 16 * 1024 * 1024;

/** Yields complete events as they arrive, without comments. @throws ClientError; the errors of `body` */
export async function* serverEvents(body: AsyncIterable<Uint8Array>): AsyncGenerator<ServerEvent, void, undefined> {
  let rest: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    rest.push(chunk);
    length += chunk.length;
    if (length > LONGEST) throw noDaemon("it sends an event without an end");
    if (!chunk.includes(NEWLINE)) continue;
    const bytes = Buffer.concat(rest);
    const end = afterLastBlank(bytes);
    for (const block of bytes.toString("utf8", 0, end).split("\n\n")) {
      const found = eventIn(block);
      if (found !== undefined) yield found;
    }
    rest = [bytes.subarray(end)];
    length = bytes.length - end;
  }
}

/** Offset after the last empty line; 0: there is none. */
function afterLastBlank(bytes: Uint8Array): number {
  for (let at = bytes.lastIndexOf(NEWLINE); at > 0; at = bytes.lastIndexOf(NEWLINE, at - 1)) if (bytes[at - 1] === NEWLINE) return at + 1;
  return 0;
}

/** undefined: the event has no data. */
function eventIn(block: string): ServerEvent | undefined {
  const found = { event: "", id: "" };
  let data: string | undefined;
  for (const line of block.split("\n")) {
    const colon = line.indexOf(":");
    const value = line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
    const name = line.slice(0, Math.max(0, colon));
    if (name === "data") data = data === undefined ? value : `${data}\n${value}`;
    else if (name === "event" || name === "id") found[name] = value;
  }
  return data === undefined ? undefined : { ...found, data };
}
