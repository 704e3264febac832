import { streamSSE } from "hono/streaming";
import { z } from "zod";
import { PULL_POLICIES } from "../../engine/index.ts";
import { errorOf, refuse } from "../http/errors.ts";
import { jsonRoute, textRoute } from "../http/route.ts";
import { during } from "../http/slots.ts";
import { imageInfo, imageReference } from "../schemas/image.ts";
import { streamPull } from "../streams/pull.ts";

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
