/** The options of the command line about images. */
import { type ImageSettings, PULL_POLICIES } from "../engine/index.ts";
import { countOf, durationOf, oneOf, sizeOf } from "./values.ts";

/** Definitions for parseArgs of node:util. */
export const IMAGE_OPTIONS = {
  "pull-policy": { type: "string" },
  "pull-timeout": { type: "string" },
  "pulls-at-once": { type: "string" },
  "image-max-size": { type: "string" },
  "image-max-files": { type: "string" },
  "image-roots": { type: "string" },
} as const;

type Values = { readonly [Name in keyof typeof IMAGE_OPTIONS]?: string };

/** @throws Error with what is wrong */
export function imageSettingsOf(values: Values): ImageSettings {
  const maxBytes = sizeOf("image-max-size", values["image-max-size"]);
  const maxFiles = countOf("image-max-files", values["image-max-files"]);
  return {
    pullPolicy: oneOf("pull-policy", values["pull-policy"], PULL_POLICIES),
    pullTimeoutMs: durationOf("pull-timeout", values["pull-timeout"]),
    pullsAtOnce: countOf("pulls-at-once", values["pulls-at-once"]),
    roots: oneOf("image-roots", values["image-roots"], ["overlay", "copy"]),
    limits: { ...(maxBytes === undefined ? {} : { maxBytes }), ...(maxFiles === undefined ? {} : { maxFiles }) },
  };
}
