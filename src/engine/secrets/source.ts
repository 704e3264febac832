/** Where a secret is had from, each time that it is needed: the engine keeps none. */

/** A file of the host, or the output of a program: its path and its arguments. */
export type SecretSource = { readonly file: string } | { readonly exec: readonly [program: string, ...args: string[]] };

export class SecretError extends Error {
  override readonly name = "SecretError";
  readonly code = "no-secret";
}
