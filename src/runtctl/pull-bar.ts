/** Pulls an image and shows a progress bar if standard error is a terminal. */
import { bar, bytes } from "./output/bar.ts";
import { stderr } from "./platform/index.ts";
import { type PulledImage, type PullProgress, pullImage } from "./pull-stream.ts";
import type { Sockets } from "./sockets.ts";

const CELLS = 30;
const CLEAR = "\r\u001b[K";

/** @param isQuiet shows no bar. @throws ClientError */
export async function pullWithBar(sockets: Sockets, asked: object, isQuiet = false): Promise<PulledImage> {
  const isLive = stderr.isTTY && !isQuiet;
  const show = (progress: PullProgress) => {
    if (isLive) stderr.write(`\r${lineOf(progress)}\u001b[K`);
  };
  try {
    return await pullImage(sockets, asked, show);
  } finally {
    if (isLive) stderr.write(CLEAR);
  }
}

/** While the image is being unpacked, the bar stays full. */
function lineOf({ bytes: have, total }: PullProgress): string {
  return total === null ? `${bytes(have)} so far` : `${bar(total === 0 ? 1 : have / total, CELLS)} ${bytes(have)} of ${bytes(total)}`;
}
