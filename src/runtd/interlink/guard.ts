/** Who may ask over TCP: whoever has the token, and has asked for this host by one of its names. */
import { createHash, timingSafeEqual } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import type { IncomingHttpHeaders } from "node:http";

/** A shorter one could be found by trying. */
const LEAST_TOKEN = 32;

/** @throws Error: it is short, or others than its owner may read or change it */
export function readToken(path: string): string {
  const { mode } = statSync(path);
  if ((mode & 0o077) !== 0) throw new Error(`${path} may be read by others than its owner: chmod 0600`);
  const token = readFileSync(path, "utf8").trim();
  if (token.length < LEAST_TOKEN) throw new Error(`the token in ${path} has less than ${LEAST_TOKEN} characters`);
  return token;
}

export type Refusal = { readonly status: 401 | 421; readonly message: string };

/**
 * undefined: go on. The name guards against pages of a browser whose name was made to lead here; the time of the comparison says nothing of the token.
 */
export function refusalOf(
  headers: IncomingHttpHeaders,
  { token, hosts }: { readonly token: string; readonly hosts: readonly string[] },
): Refusal | undefined {
  const host = (headers.host ?? "").toLowerCase();
  if (!hosts.some((one) => one.toLowerCase() === host)) return { status: 421, message: "this host has another name" };
  const [, given = ""] = /^Bearer (.+)$/.exec(headers.authorization ?? "") ?? [];
  return timingSafeEqual(digest(given), digest(token)) ? undefined : { status: 401, message: "a token is needed: Authorization: Bearer" };
}

/** Of one length, whatever was given. */
function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
