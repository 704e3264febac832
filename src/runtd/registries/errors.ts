/** Errors of logins to registries. */

export type LoginErrorCode =
  /** The registry refuses the password, or the file or the helper cannot take it. Nothing was changed. */
  | "login-failed"
  /** The file has no login for the registry. */
  | "not-logged-in";

export class LoginError extends Error {
  override readonly name = "LoginError";
  readonly code: LoginErrorCode;

  constructor(code: LoginErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
