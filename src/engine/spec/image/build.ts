/** What is asked of a builder of images: the body of the route, and what the `build` of a Compose service becomes. */
import { z } from "zod";
import { parseReference } from "./reference.ts";

const LONGEST = 4096;
/** Characters of a Dockerfile that is part of the request. */
const LONGEST_DOCKERFILE = 1024 * 1024;
const text = z.string().max(LONGEST);
const name = z.string().regex(/^[A-Za-z0-9][\w.-]{0,127}$/, "is no name of letters, digits and _ . -");
const limit = z.int().min(-1);

const result = text.refine((reference) => {
  const parsed = parseReference(reference);
  return parsed?.transport === "docker" && parsed.tag !== undefined;
}, "is no docker://HOST/NAME:TAG");

/** What a builder fetches itself. Source: buildah-build(1), "CONTEXT". */
const REMOTE = /^(?:https?:\/\/|git:\/\/|github\.com\/)/;

export function isRemoteContext(context: string): boolean {
  return REMOTE.test(context);
}

const place = text.refine((path) => path.startsWith("/") || isRemoteContext(path), "is no absolute path, and no http:// or git:// address");
/** An image as a Dockerfile names one in FROM. */
const IMAGE = "docker-image://";

export const imageBuild = z.strictObject({
  reference: result.describe("Name of the result: docker://HOST/NAME:TAG."),
  tags: z.array(result).max(64).default([]).describe("Additional names of the result."),
  context: place.describe("Directory of this host, or an address that the builder fetches."),
  dockerfile: text.default("Dockerfile").describe("Path, relative to the context."),
  inline: z.string().max(LONGEST_DOCKERFILE).optional().describe("Text that replaces the file."),
  target: name.optional().describe("Stage of the Dockerfile. Absent: the last one."),
  args: z.record(z.string().regex(/^[^=\s]+$/), z.string()).default({}),
  labels: z.record(z.string().regex(/^[^=]+$/), z.string()).default({}),
  contexts: z
    .record(name, z.union([place, text.startsWith(IMAGE)]))
    .default({})
    .describe(`Further contexts by name: as context, or ${IMAGE}NAME.`),
  network: z.enum(["default", "none", "host"]).default("default").describe("Network of the RUN commands."),
  hosts: z
    .array(z.strictObject({ name, address: z.string().regex(/^[0-9a-fA-F.:]+$/, "is no address") }))
    .max(1000)
    .default([]),
  shmSize: z.int().min(0).optional(),
  ulimits: z.record(z.string().regex(/^[a-z]+$/), z.strictObject({ soft: limit, hard: limit })).default({}),
  secrets: z.record(name, z.base64()).default({}).describe("Contents for RUN --mount=type=secret, by id, in base64."),
  ssh: z
    .record(name, z.union([z.literal(""), text.regex(/^\/[^,]*$/, "is no absolute path")]))
    .default({})
    .describe("Socket of an agent, or a key, by id."),
  noCache: z.boolean().default(false),
  pull: z.boolean().default(false).describe("Ask the registry for newer base images."),
});

export type ImageBuild = z.output<typeof imageBuild>;
export type ImageBuildInput = z.input<typeof imageBuild>;
