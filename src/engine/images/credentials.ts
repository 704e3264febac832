/** Credentials of registries. They are read for one call of a program and passed to it by a descriptor, never by an argument, a file or a message. */
import { z } from "zod";
import { asMemoryFile, readSecret, redact, SecretError, type SecretSource } from "../secrets/index.ts";
import { ImageError } from "./errors.ts";

/** Keys are the names by which tasks refer to them. */
export type Credentials = Readonly<Record<string, SecretSource>>;

/** Name of the credentials for images for which none are named, if the host has them. */
const DEFAULT_CREDENTIALS = "default";

/** The format of `containers-auth.json(5)`, which Docker also writes. */
const authFile = z.object({
  // Absent: helpers have all passwords.
  auths: z.record(z.string(), z.object({ auth: z.string().optional(), identitytoken: z.string().optional() })).nullish(),
});

/**
 * Calls `action` with a descriptor of the file, or with undefined if there is none. Secrets are removed from the messages of errors of `action`.
 * @param name undefined: the host's default credentials, if there are any.
 * @throws ImageError no-credentials; what `action` throws
 */
export async function withCredentials<T>(
  all: Credentials,
  name: string | undefined,
  signal: AbortSignal,
  action: (descriptor: number | undefined) => Promise<T>,
): Promise<T> {
  const source = all[name ?? DEFAULT_CREDENTIALS];
  if (source === undefined && name === undefined) return action(undefined);
  if (source === undefined) throw new ImageError("no-credentials", `this host has no credentials with the name ${JSON.stringify(name)}`);
  const bytes = await read(source, name ?? DEFAULT_CREDENTIALS, signal);
  try {
    const secrets = secretsIn(bytes, name ?? DEFAULT_CREDENTIALS);
    return await withRedactedErrors(secrets, () => asMemoryFile(bytes, action));
  } finally {
    bytes.fill(0);
  }
}

async function read(source: SecretSource, name: string, signal: AbortSignal): Promise<Buffer> {
  try {
    return await readSecret(source, signal);
  } catch (error) {
    if (!(error instanceof SecretError)) throw error;
    throw new ImageError("no-credentials", `credentials ${name}: ${error.message}`, { cause: error });
  }
}

/** @throws ImageError no-credentials: the content is no JSON as in containers-auth.json(5) */
function secretsIn(bytes: Buffer, name: string): string[] {
  const { success, data } = authFile.safeParse(parsed(bytes));
  // The message of the parser would show a part of the secret.
  if (!success) throw new ImageError("no-credentials", `credentials ${name}: they are no JSON as in containers-auth.json(5)`);
  return Object.values(data.auths ?? {}).flatMap(({ auth = "", identitytoken = "" }) => {
    const pair = Buffer.from(auth, "base64").toString();
    return [auth, pair, pair.slice(pair.indexOf(":") + 1), identitytoken];
  });
}

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return undefined;
  }
}

async function withRedactedErrors<T>(secrets: readonly string[], action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    if (!(error instanceof ImageError)) throw error;
    // The cause is left out, because its message has the secrets, too.
    throw new ImageError(error.code, redact(error.message, secrets));
  }
}
