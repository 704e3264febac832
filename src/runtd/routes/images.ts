import { type SSEStreamingApi, streamSSE } from "hono/streaming";
import { z } from "zod";
import { type ImageCare, type ImageInfo, type ImagePull, imageBuild, type Pin, PULL_POLICIES } from "../../engine/index.ts";
import { errorOf, refuse } from "../http/errors.ts";
import { jsonRoute, textRoute } from "../http/route.ts";
import { during } from "../http/slots.ts";
import { imageVia, pullProgress } from "../schemas/task.ts";
import { referenceOf } from "../short-names.ts";

/** Images of the host, as the API shows them. */
const wallMs = z.number().describe("Milliseconds since the epoch.");
const imageReference = z
  .string()
  .min(1)
  .max(4096)
  .describe("oci:DIR[:tag], oci-archive:FILE, docker-archive:FILE or docker://HOST/NAME[:tag|@digest].");

/** What a user may write. */
export const imageName = z
  .string()
  .min(1)
  .max(4096)
  .describe(
    "Such a reference, or a name: HOST/NAME[:tag|@digest], or a short name. Where RUNT_IMAGES of the daemon says nothing, a short name is an alias of the host's registries.conf, otherwise an image of docker.io.",
  );

const imageInfo = z
  .strictObject({
    reference: imageReference,
    digest: z.string().describe("Digest of the content at its source."),
    manifest: z.string().describe("Digest of the manifest in the store."),
    sizeBytes: z.number().nullable().describe("Packed size; null if the image is damaged. The next pull then fetches it again."),
    pulledMs: wallMs,
    lastUsedMs: wallMs,
    isUsed: z.boolean().describe("A container uses the image, or will use it, or a service may return to it."),
    tasks: z.array(z.string()).describe("Ids of the tasks that use the image."),
    isKept: z.boolean().describe("The daemon is configured to never remove the image."),
  })
  .meta({ id: "Image" }) satisfies z.ZodType<ImageInfo>;

/** The last event of a pull and of a build. */
const pulledImage = z
  .strictObject({
    reference: z.string(),
    digest: z.string().describe("Digest of the content at its source."),
    via: imageVia,
    error: z.string().nullable().describe("The error of the source, if the local image is used. null: there was none."),
  })
  .meta({ id: "PulledImage" });

const buildLine = z.strictObject({ line: z.string() }).meta({ id: "BuildLine" });

export const listImages = jsonRoute({
  method: "get",
  path: "/v1/images",
  operation: "listImages",
  access: "read",
  summary: "List the images in the store of the host",
  answer: { status: 200, description: "By reference", schema: z.strictObject({ images: z.array(imageInfo) }) },
  handle: ({ engine }) => ({ images: engine.images.list().sort((a, b) => (a.reference < b.reference ? -1 : 1)) }),
});

export const pruneImages = jsonRoute({
  method: "post",
  path: "/v1/images/prune",
  operation: "pruneImages",
  access: "admin",
  summary: "Remove images that no task uses",
  description:
    "Images that a task uses stay, and so do images that the daemon is configured to keep. The request waits for running pulls, at most 30 seconds, and delays no container.",
  body: z.strictObject({
    unusedMs: z.number().min(0).default(0).describe("Only images that no container has used for this long."),
    most: z.int().min(1).optional().describe("Maximum number of images, least recently used first. Default: all."),
  }),
  answer: {
    status: 200,
    description: "The removed images, in this order",
    schema: z.strictObject({ removed: z.array(z.string()), freedBytes: z.number().describe("Packed size of the removed parts.") }),
  },
  errors: ["images-busy"],
  handle: ({ engine, body }) => engine.images.prune(body),
});

export const pullImage = textRoute({
  method: "post",
  path: "/v1/images/pull",
  operation: "pullImage",
  access: "admin",
  summary: "Pull an image, as for a container, and report the progress",
  description:
    "Server-sent events: `progress` (PullProgress) at intervals, `unpacking` after the download, and at the end `image` (PulledImage) or `error` (Error). If the client closes the connection earlier, the pull ends, unless another client or a task waits for the image.",
  body: z.strictObject({
    reference: imageName,
    policy: z.enum(PULL_POLICIES).optional().describe("Default: the policy of the host."),
    credentials: z.string().optional().describe("Name of the host's credentials. Default: default."),
  }),
  errors: ["too-many"],
  answer: { status: 200, description: "A stream that ends with the pull", type: "text/event-stream" },
  events: { progress: pullProgress, unpacking: z.strictObject({}), image: pulledImage },
  async respond({ engine, subscribers, caller, context, body }) {
    const place = await subscribers.placeFor(caller);
    if (typeof place === "string") return refuse(context, "too-many", place);
    return streamSSE(context, (stream) => during(place, () => streamPull(stream, engine.images, body)));
  },
});

export const buildImage = textRoute({
  method: "post",
  path: "/v1/images/build",
  operation: "buildImage",
  access: "admin",
  summary: "Build an image, and keep it in the store",
  description:
    "Server-sent events: `line` (BuildLine) for each line of the builder's output, and at the end `image` (PulledImage) or `error` (Error). The reference of the result names it by its digest. A client that does not read misses lines. If the client closes the connection earlier, the build ends. Only one build runs at a time.",
  body: imageBuild,
  errors: ["too-many"],
  answer: { status: 200, description: "A stream that ends with the build", type: "text/event-stream" },
  events: { line: buildLine, image: pulledImage },
  async respond({ engine, subscribers, caller, context, body }) {
    const place = await subscribers.placeFor(caller);
    if (typeof place === "string") return refuse(context, "too-many", place);
    return streamSSE(context, (stream) =>
      during(place, () =>
        streamed(stream, "image", async (signal) => {
          const lines = new LineQueue(stream);
          const pin = await engine.images.build(body, signal, (line) => lines.add(line));
          await lines.sent();
          return pulledImageOf(pin);
        }),
      ),
    );
  },
});

/** Runs until the pull has ended. A slow client gets fewer progress events. */
function streamPull(stream: SSEStreamingApi, images: ImageCare, asked: ImagePull): Promise<void> {
  let isWriting = false;
  return streamed(stream, "image", async (signal) => {
    const pin = await images.pull({ ...asked, reference: referenceOf(asked.reference) }, signal, {
      onProgress(progress) {
        if (isWriting || signal.aborted) return;
        isWriting = true;
        void stream.writeSSE({ event: "progress", data: JSON.stringify(progress) }).finally(() => {
          isWriting = false;
        });
      },
      onUnpack() {
        if (!signal.aborted) void stream.writeSSE({ event: "unpacking", data: "{}" });
      },
    });
    return pulledImageOf(pin);
  });
}

function pulledImageOf({ reference, digest, via, pullError }: Pin): z.input<typeof pulledImage> {
  return { reference, digest, via, error: pullError ?? null };
}

/** Sends its result to one client as an event of this name, or its error. If the client disconnects, it is cancelled. */
export async function streamed(stream: SSEStreamingApi, result: string, action: (signal: AbortSignal) => Promise<object>): Promise<void> {
  const controller = new AbortController();
  stream.onAbort(() => controller.abort(new Error("the reader has gone away")));
  try {
    const value = await action(controller.signal);
    await stream.writeSSE({ event: result, data: JSON.stringify(value) });
  } catch (error) {
    if (controller.signal.aborted) return;
    const { code, message, details } = errorOf(error);
    await stream.writeSSE({ event: "error", data: JSON.stringify({ code, message, ...details }) });
  }
}

/** Lines that a client has not taken yet, at most. */
const MOST_LINES = 10_000;

class LineQueue {
  readonly #stream: SSEStreamingApi;
  #lines: string[] = [];
  #left = 0;
  #sending: Promise<void> | undefined;

  constructor(stream: SSEStreamingApi) {
    this.#stream = stream;
  }

  add(line: string): void {
    if (this.#lines.length < MOST_LINES) this.#lines.push(line);
    else this.#left++;
    this.#sending ??= this.#send().finally(() => {
      this.#sending = undefined;
    });
  }

  async sent(): Promise<void> {
    while (this.#sending !== undefined) await this.#sending;
  }

  async #send(): Promise<void> {
    while (this.#lines.length > 0 && !this.#stream.aborted) {
      const lines = this.#left === 0 ? this.#lines : [...this.#lines, `(${this.#left} lines are left out)`];
      this.#lines = [];
      this.#left = 0;
      for (const line of lines) await this.#stream.writeSSE({ event: "line", data: JSON.stringify({ line }) });
    }
    // Nobody reads them.
    if (this.#stream.aborted) this.#lines = [];
  }
}
