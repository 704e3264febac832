/** Images of the store that users look at, name, and give to others. */
import { stream, streamSSE } from "hono/streaming";
import { z } from "zod";
import type { ImageDetail } from "../../engine/index.ts";
import { FRAME, frameOf } from "../../shared/frames/index.ts";
import { errorOf, refuse } from "../http/errors.ts";
import { jsonRoute, textRoute } from "../http/route.ts";
import { during } from "../http/slots.ts";
import { referenceOf } from "../short-names.ts";
import { imageName, streamed } from "./images.ts";

const inStore = imageName.describe("An image of the store, by its reference or by a name as for a pull.");
const inRegistry = imageName.describe("HOST/NAME:tag, or docker://HOST/NAME:tag. A short name is as for a pull.");
const named = z.strictObject({ reference: z.string(), digest: z.string() }).meta({ id: "NamedImage" });

const imageDetail = z
  .strictObject({
    reference: z.string(),
    digest: z.string().describe("Digest of the content at its source."),
    manifest: z.string().describe("Digest of the manifest in the store."),
    names: z.array(z.string()).describe("All references of this image."),
    layers: z.array(z.object({ mediaType: z.string(), digest: z.string(), size: z.number().describe("Packed, in bytes.") })),
    configuration: z.record(z.string(), z.unknown()).describe("The configuration of the image, as OCI or Docker defines it."),
  })
  .meta({ id: "ImageDetail" }) satisfies z.ZodType<ImageDetail>;

export const inspectImage = jsonRoute({
  method: "get",
  path: "/v1/images/inspect",
  operation: "inspectImage",
  access: "admin",
  summary: "Get the configuration and the layers of an image in the store",
  query: z.object({ reference: inStore }),
  answer: { status: 200, description: "The image", schema: imageDetail },
  errors: ["no-image"],
  handle: ({ engine, query }) => engine.images.inspect(referenceOf(query.reference)),
});

export const tagImage = jsonRoute({
  method: "post",
  path: "/v1/images/tag",
  operation: "tagImage",
  access: "admin",
  summary: "Give an image of the store a further name",
  description: "If another image has the name, it loses it. A pull of the name asks its registry, as for any other image.",
  body: z.strictObject({ reference: inStore, name: inRegistry }),
  answer: { status: 200, description: "The new reference, and the digest of the image", schema: named },
  errors: ["no-image"],
  async handle({ engine, body }) {
    const reference = referenceOf(body.name);
    return { reference, digest: await engine.images.tag(referenceOf(body.reference), reference) };
  },
});

export const pushImage = textRoute({
  method: "post",
  path: "/v1/images/push",
  operation: "pushImage",
  access: "admin",
  summary: "Send an image of the store to a registry",
  description:
    "Server-sent events: at the end `pushed` (its reference and digest in the registry) or `error` (Error). If the client closes the connection earlier, the push ends.",
  body: z.strictObject({
    reference: inStore,
    to: inRegistry.optional().describe("Default: the registry and name of the reference."),
    credentials: z.string().optional().describe("Name of the host's credentials. Default: default."),
  }),
  errors: ["too-many"],
  answer: { status: 200, description: "A stream that ends with the push", type: "text/event-stream" },
  events: { pushed: named },
  async respond({ engine, subscribers, caller, context, body: { reference, to, credentials } }) {
    const place = await subscribers.placeFor(caller);
    if (typeof place === "string") return refuse(context, "too-many", place);
    const asked = { reference: referenceOf(reference), to: to && referenceOf(to), credentials };
    return streamSSE(context, (events) => during(place, () => streamed(events, "pushed", (signal) => engine.images.push(asked, signal))));
  },
});

export const loadImages = textRoute({
  method: "post",
  path: "/v1/images/load",
  operation: "loadImages",
  access: "admin",
  summary: "Take all images of an archive of docker save into the store",
  description:
    "Server-sent events: `loaded` for each image (its reference and digest), and at the end `done` or `error` (Error). If the client closes the connection earlier, the work ends.",
  body: z.strictObject({
    file: z
      .string()
      .regex(/^\/[^:\0]*$/)
      .describe("Absolute path of a file of this host."),
  }),
  errors: ["too-many"],
  answer: { status: 200, description: "A stream that ends with the work", type: "text/event-stream" },
  events: { loaded: named, done: z.strictObject({}) },
  async respond({ engine, subscribers, caller, context, body: { file } }) {
    const place = await subscribers.placeFor(caller);
    if (typeof place === "string") return refuse(context, "too-many", place);
    return streamSSE(context, (events) =>
      during(place, () =>
        streamed(events, "done", async (signal) => {
          await engine.images.load(file, referenceOf, signal, (taken) => {
            void events.writeSSE({ event: "loaded", data: JSON.stringify(taken) });
          });
          return {};
        }),
      ),
    );
  },
});

export const saveImage = textRoute({
  method: "get",
  path: "/v1/images/save",
  operation: "saveImage",
  access: "admin",
  summary: "Get an image of the store as an archive of docker save",
  description:
    "The archive comes in the frames of exec: 17 with its bytes, and at the end 19, or 20 (JSON: code, message) if it could not be made. If the client closes the connection earlier, the work ends.",
  query: z.object({ reference: inStore }),
  errors: ["too-many"],
  answer: { status: 200, description: "Frames", type: "application/octet-stream" },
  async respond({ engine, subscribers, caller, context, query }) {
    const place = await subscribers.placeFor(caller);
    if (typeof place === "string") return refuse(context, "too-many", place);
    context.header("Content-Type", "application/octet-stream");
    return stream(context, (bytes) =>
      during(place, async () => {
        const controller = new AbortController();
        bytes.onAbort(() => controller.abort(new Error("the reader has gone away")));
        try {
          await engine.images.save(referenceOf(query.reference), controller.signal, (piece) => bytes.write(frameOf(FRAME.stdout, piece)));
          await bytes.write(frameOf(FRAME.end, Buffer.from("{}")));
        } catch (error) {
          if (controller.signal.aborted) return;
          const { code, message } = errorOf(error);
          await bytes.write(frameOf(FRAME.failed, Buffer.from(JSON.stringify({ code, message }))));
        }
      }),
    );
  },
});
