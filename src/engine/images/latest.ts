/** Asks a registry which image a tag leads to now, without a pull. */
import { type ImageReference, parseReference } from "../spec/index.ts";
import { type Credentials, withCredentials } from "./credentials.ts";
import { ImageError } from "./errors.ts";
import { resolveSource } from "./fetch.ts";
import { within } from "./waiting.ts";

/** Milliseconds in which the registry must have answered. */
const ANSWER_MS = 30_000;

/** The tag of a registry to which a reference leads; undefined: it leads to a file of the host, or names a digest, so that nothing newer can be there. */
export function tagIn(reference: string): ImageReference | undefined {
  const parsed = parseReference(reference);
  return parsed?.transport === "docker" && parsed.digest === undefined ? parsed : undefined;
}

/** The digest that the registry has for the tag. @param name of the credentials @throws ImageError pull-timeout, pull-failed, no-credentials, program-missing; the reason of `signal` */
export function latestDigest(tag: ImageReference, all: Credentials, name: string | undefined, signal: AbortSignal): Promise<string> {
  const late = () => new ImageError("pull-timeout", `the registry has not answered within ${ANSWER_MS / 1000} s`);
  return within(
    ANSWER_MS,
    signal,
    (bounded) =>
      withCredentials(all, name, bounded, async (credentials) => (await resolveSource(tag, { signal: bounded, credentials })).digest),
    late,
  );
}
