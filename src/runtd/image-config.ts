/** Command line options about images. */
import { type ImageSettings, PULL_POLICIES, type SecretSource } from "../engine/index.ts";
import { countOf, durationOf, oneOf, sizeOf } from "./values.ts";

/** Definitions for parseArgs of node:util. */
export const IMAGE_OPTIONS = {
  "pull-policy": { type: "string" },
  "pull-timeout": { type: "string" },
  "pulls-at-once": { type: "string" },
  "image-max-size": { type: "string" },
  "image-max-files": { type: "string" },
  "image-roots": { type: "string" },
  "image-gc-every": { type: "string" },
  "image-gc-age": { type: "string" },
  "image-gc-count": { type: "string" },
  "image-gc-full": { type: "string" },
  "image-gc-keep": { type: "string", multiple: true },
  "pull-upfront": { type: "boolean", default: false },
  credentials: { type: "string", multiple: true },
} as const;

type Values = {
  readonly [Name in keyof typeof IMAGE_OPTIONS]?: (typeof IMAGE_OPTIONS)[Name] extends { multiple: true }
    ? string[]
    : (typeof IMAGE_OPTIONS)[Name] extends { type: "boolean" }
      ? boolean
      : string;
};

/** @throws Error with what is wrong */
export function imageSettingsOf(values: Values): ImageSettings {
  const maxBytes = sizeOf("image-max-size", values["image-max-size"]);
  const maxFiles = countOf("image-max-files", values["image-max-files"]);
  return {
    pullPolicy: oneOf("pull-policy", values["pull-policy"], PULL_POLICIES),
    pullTimeoutMs: durationOf("pull-timeout", values["pull-timeout"]),
    pullsAtOnce: countOf("pulls-at-once", values["pulls-at-once"]),
    cleanUp: {
      everyMs: durationOf("image-gc-every", values["image-gc-every"]),
      unusedMs: durationOf("image-gc-age", values["image-gc-age"]),
      most: countOf("image-gc-count", values["image-gc-count"]),
      fullPercent: percentOf("image-gc-full", values["image-gc-full"]),
      kept: values["image-gc-keep"],
    },
    credentials: Object.fromEntries((values.credentials ?? []).map(credentialsOf)),
    roots: oneOf("image-roots", values["image-roots"], ["overlay", "copy"]),
    limits: { ...(maxBytes === undefined ? {} : { maxBytes }), ...(maxFiles === undefined ? {} : { maxFiles }) },
  };
}

/** @throws Error: the value is no percentage */
function percentOf(name: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  const [, digits] = /^(\d{1,3})%?$/.exec(value) ?? [];
  if (digits === undefined || Number(digits) > 100) throw new Error(`${name}: ${value} is no percentage`);
  return Number(digits);
}

const CREDENTIALS = /^([A-Za-z0-9][A-Za-z0-9_-]*)=(file|exec):(\/.+)$/;

/** Parses "NAME=file:PATH" or "NAME=exec:PROGRAM". */
function credentialsOf(text: string): [name: string, source: SecretSource] {
  const [, name, kind, path] = CREDENTIALS.exec(text) ?? [];
  if (name === undefined || path === undefined)
    throw new Error(`credentials: ${text} is neither NAME=file:FILE nor NAME=exec:PROGRAM, with an absolute path`);
  return [name, kind === "file" ? { file: path } : { exec: [path] }];
}
