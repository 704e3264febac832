/** Pulls or builds an image through the daemon, and shows the progress. */
import { askFirst, ClientError, objectIn, parsedOr, refusal } from "./client.ts";
import { serverEvents } from "./event-stream.ts";
import { bar, bytes } from "./output/bar.ts";
import { stderr } from "./platform/index.ts";
import type { Sockets } from "./sockets.ts";

export interface PullProgress {
  readonly bytes: number;
  readonly total: number | null;
}

export interface PulledImage {
  readonly reference: string;
  readonly digest: string;
  readonly via: "pulled" | "current" | "cache" | "usingCachedDigest";
  readonly error: string | null;
}

/** The pull is cancelled if this process ends. @throws ClientError */
function pullImage(sockets: Sockets, body: object, show: (line: string) => void): Promise<PulledImage> {
  return imageFrom(sockets, "/v1/images/pull", body, (event, value) => {
    if (event === "progress") show(lineOf(value as PullProgress));
    if (event === "unpacking") show("unpacking");
  });
}

/** The build is cancelled if this process ends. @throws ClientError */
export function buildImage(sockets: Sockets, body: object, onLine: (line: string) => void): Promise<PulledImage> {
  return imageFrom(sockets, "/v1/images/build", body, (event, value) => {
    if (event === "line") onLine((value as { readonly line: string }).line);
  });
}

async function imageFrom(sockets: Sockets, path: string, body: object, on: (event: string, value: unknown) => void): Promise<PulledImage> {
  const answered = await askFirst(sockets, { method: "POST", path, body: JSON.stringify(body), isStream: true });
  if (answered.status !== 200) throw refusal(await objectIn(answered));
  for await (const { event, data } of serverEvents(answered.body)) {
    const value = parsedOr(() => new ClientError("no-daemon", "what answers is no runtd: it sends what cannot be read"), data);
    if (event === "image") return value as PulledImage;
    if (event === "error") throw refusal(value as Readonly<Record<string, unknown>>);
    on(event, value);
  }
  throw new ClientError("unreachable", "the daemon has ended before the image was there");
}

const CELLS = 30;
const CLEAR = "\r\u001b[K";

/** Shows a progress bar if standard error is a terminal. @param isQuiet shows no bar. @throws ClientError */
export async function pullWithBar(sockets: Sockets, asked: object, isQuiet = false): Promise<PulledImage> {
  const isLive = stderr.isTTY && !isQuiet;
  const show = (line: string) => {
    if (isLive) stderr.write(`\r${line}\u001b[K`);
  };
  try {
    return await pullImage(sockets, asked, show);
  } finally {
    if (isLive) stderr.write(CLEAR);
  }
}

function lineOf({ bytes: have, total }: PullProgress): string {
  return total === null ? `${bytes(have)} so far` : `${bar(total === 0 ? 1 : have / total, CELLS)} ${bytes(have)} of ${bytes(total)}`;
}
