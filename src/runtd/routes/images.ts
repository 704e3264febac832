import { type SSEStreamingApi, streamSSE } from "hono/streaming";
import { z } from "zod";
import { type ImageCare, type ImageInfo, type ImagePull, type Progress, PULL_POLICIES } from "../../engine/index.ts";
import { errorOf, type Refusal, refuse } from "../http/errors.ts";
import { jsonRoute, textRoute } from "../http/route.ts";
import { during } from "../http/slots.ts";

/** Images of the host, as the API shows them. */
const wallMs = z.number().describe("Milliseconds since the epoch.");
const imageReference = z
  .string()
  .min(1)
  .max(4096)
  .describe("oci:DIR[:tag], oci-archive:FILE, docker-archive:FILE or docker://HOST/NAME[:tag|@digest].");

const imageInfo = z
  .strictObject({
    reference: imageReference,
    digest: z.string().describe("As its source names the content."),
    manifest: z.string().describe("Digest of the manifest in the store."),
    sizeBytes: z.number().nullable().describe("As it is packed; null: it is damaged, and the next pull gets it anew."),
    pulledMs: wallMs,
    lastUsedMs: wallMs,
    isUsed: z.boolean().describe("A container is made of it, or is to be."),
    tasks: z.array(z.string()).describe("Ids of the tasks that are made of it."),
    isKept: z.boolean().describe("The daemon was told never to remove it."),
  })
  .meta({ id: "Image" }) satisfies z.ZodType<ImageInfo>;

export const listImages = jsonRoute({
  method: "get",
  path: "/v1/images",
  operation: "listImages",
  access: "read",
  summary: "Images in the store of the host",
  answer: { status: 200, description: "By reference", schema: z.strictObject({ images: z.array(imageInfo) }) },
  handle: ({ engine }) => ({ images: engine.images.list().sort((a, b) => (a.reference < b.reference ? -1 : 1)) }),
});

export const pruneImages = jsonRoute({
  method: "post",
  path: "/v1/images/prune",
  operation: "pruneImages",
  access: "admin",
  summary: "Remove images that nobody uses",
  description: "What a task is made of stays, and so does what the daemon was told to keep. Pulls that are going on are waited for.",
  body: z.strictObject({
    unusedMs: z.number().min(0).default(0).describe("Those that nobody has used for so long."),
    most: z.int().min(1).optional().describe("So many at most, those first that were used longest ago. Absent: all."),
  }),
  answer: {
    status: 200,
    description: "What was removed, in that order",
    schema: z.strictObject({ removed: z.array(z.string()), freedBytes: z.number().describe("Of the parts as they were packed.") }),
  },
  handle: ({ engine, body }) => engine.images.prune(body),
});

export const pullImage = textRoute({
  method: "post",
  path: "/v1/images/pull",
  operation: "pullImage",
  access: "admin",
  summary: "Get an image, as for a container, and tell how far it is",
  description:
    "Server-sent events: `progress` (PullProgress) now and then, and at the end `image` (PulledImage) or `error` (Error). Who closes the connection before ends the pull, if nobody else waits for the image.",
  body: z.strictObject({
    reference: imageReference,
    policy: z.enum(PULL_POLICIES).optional().describe("Absent: that of the host."),
    credentials: z.string().optional().describe("Name of the credentials that the host has. Absent: default."),
  }),
  errors: ["too-many"],
  answer: { status: 200, description: "It ends with the pull", type: "text/event-stream" },
  async respond({ engine, subscribers, caller, context, body }) {
    const place = await subscribers.placeFor(caller);
    if (typeof place === "string") return refuse(context, "too-many", place);
    return streamSSE(context, (stream) => during(place, () => streamPull(stream, engine.images, body, errorOf)));
  },
});

/** Reports the progress of a pull to one client. */

/** Runs until the pull has ended. If the client disconnects, the pull is cancelled. A slow client gets fewer progress events. */
async function streamPull(
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
