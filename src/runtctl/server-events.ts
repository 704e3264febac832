/** Reads server-sent events. */
import { ClientError } from "./client.ts";

export interface ServerEvent {
  /** "" if the daemon gives none. */
  readonly event: string;
  readonly id: string;
  readonly data: string;
}

const NEWLINE = 0x0a;
/** What an event of the daemon has at most, and much more. */
const LONGEST = 16 * 1024 * 1024;

/** The events that are whole, as they come; comments are left out. @throws ClientError, and what `body` throws */
export async function* serverEvents(body: AsyncIterable<Uint8Array>): AsyncGenerator<ServerEvent, void, undefined> {
  let rest: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    rest.push(chunk);
    length += chunk.length;
    if (length > LONGEST) throw new ClientError("no-daemon", "what answers is no runtd: it sends an event without an end");
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

/** Where the last empty line ends; 0: there is none. */
function afterLastBlank(bytes: Uint8Array): number {
  for (let at = bytes.lastIndexOf(NEWLINE); at > 0; at = bytes.lastIndexOf(NEWLINE, at - 1)) if (bytes[at - 1] === NEWLINE) return at + 1;
  return 0;
}

/** undefined: it has no data. */
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
