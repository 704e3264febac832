/** Removes secrets from the messages of other programs: a registry may send back what it was sent. Pure. */

const HIDDEN = "[hidden]";
/** In characters. Shorter secrets would match anywhere. */
const SHORTEST = 4;

/** Replaces each secret, also in base64, in the text. */
export function redact(text: string, secrets: readonly string[]): string {
  return secrets
    .filter(({ length }) => length >= SHORTEST)
    .flatMap((secret) => [secret, Buffer.from(secret).toString("base64"), encodeURIComponent(secret)])
    .sort((a, b) => b.length - a.length)
    .reduce((hidden, secret) => hidden.replaceAll(secret, HIDDEN), text);
}
