/** The source of a secret. It is read each time the secret is needed; the engine stores no secrets. */

/** A file of the host, or the standard output of a program, given by path and arguments. */
export type SecretSource = { readonly file: string } | { readonly exec: readonly [program: string, ...args: string[]] };

export class SecretError extends Error {
  override readonly name = "SecretError";
  readonly code = "no-secret";
}
