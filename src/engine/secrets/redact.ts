/** What others say may have a secret in it: a registry that shows what it was sent. Pure. */

const HIDDEN = "[hidden]";
/** Shorter ones are in any text. */
const SHORTEST = 4;

/** Each of them, and what base64 makes of it, is hidden in the text. */
export function redact(text: string, secrets: readonly string[]): string {
  return secrets
    .filter(({ length }) => length >= SHORTEST)
    .flatMap((secret) => [secret, Buffer.from(secret).toString("base64"), encodeURIComponent(secret)])
    .sort((a, b) => b.length - a.length)
    .reduce((hidden, secret) => hidden.replaceAll(secret, HIDDEN), text);
}
