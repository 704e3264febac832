/** Authorises requests over TCP: they need the token, and one of this host's names in the Host header. */
import { createHash, timingSafeEqual } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import type { IncomingHttpHeaders } from "node:http";

/** Minimum number of characters. A shorter token could be guessed. */
const LEAST_TOKEN = 32;

/** @throws Error: the token is too short, or users other than its owner can read or change the file */
export function readToken(path: string): string {
  const { mode } = statSync(path);
  if ((mode & 0o077) !== 0) throw new Error(`${path} may be read by others than its owner: chmod 0600`);
  const token = readFileSync(path, "utf8").trim();
  if (token.length < LEAST_TOKEN) throw new Error(`the token in ${path} has less than ${LEAST_TOKEN} characters`);
  return token;
}

export type Refusal = { readonly status: 401 | 421; readonly message: string };

/**
 * Returns why a request is refused; undefined: it is allowed. Checking the name prevents DNS rebinding, by which a web page in a browser could send
 * requests here. The comparison takes the same time for any token.
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

/** Gives inputs of any length the same length, which timingSafeEqual needs. */
function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
