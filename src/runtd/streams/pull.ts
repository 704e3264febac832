/** Reports the progress of a pull to one client. */
import type { SSEStreamingApi } from "hono/streaming";
import type { ImageCare, ImagePull, Progress } from "../../engine/index.ts";
import type { Refusal } from "../http/errors.ts";

/** Runs until the pull has ended. If the client disconnects, the pull is cancelled. A slow client gets fewer progress events. */
export async function streamPull(
  stream: SSEStreamingApi,
  images: ImageCare,
  asked: ImagePull,
  refusalOf: (error: unknown) => Refusal,
): Promise<void> {
  const controller = new AbortController();
  stream.onAbort(() => controller.abort(new Error("the reader has gone away")));
  let isWriting = false;
  const tell = (progress: Progress) => {
    if (isWriting || controller.signal.aborted) return;
    isWriting = true;
    void stream.writeSSE({ event: "progress", data: JSON.stringify(progress) }).finally(() => {
      isWriting = false;
    });
  };
  try {
    const { reference, digest, via, pullError = null } = await images.pull(asked, controller.signal, tell);
    await stream.writeSSE({ event: "image", data: JSON.stringify({ reference, digest, via, error: pullError }) });
  } catch (error) {
    if (controller.signal.aborted) return;
    const { code, message, details } = refusalOf(error);
    await stream.writeSSE({ event: "error", data: JSON.stringify({ code, message, ...details }) });
  }
}
