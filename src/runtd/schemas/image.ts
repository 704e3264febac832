/** Images of the host, as the API shows them. */
import { z } from "zod";
import type { ImageInfo } from "../../engine/index.ts";
import { imageVia } from "./task.ts";

const wallMs = z.number().describe("Milliseconds since the epoch.");
export const imageReference = z
  .string()
  .min(1)
  .max(4096)
  .describe("oci:DIR[:tag], oci-archive:FILE, docker-archive:FILE or docker://HOST/NAME[:tag|@digest].");

export const imageInfo = z
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

export const pulledImage = z
  .strictObject({
    reference: z.string(),
    digest: z.string(),
    via: imageVia,
    error: z.string().nullable().describe("Why the source has failed."),
  })
  .meta({ id: "PulledImage" });

export const pullProgress = z
  .strictObject({ bytes: z.number(), total: z.number().nullable().describe("null: the source does not say.") })
  .meta({ id: "PullProgress" });
