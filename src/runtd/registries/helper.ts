/** Programs that keep passwords: `docker-credential-NAME`. Source: github.com/docker/docker-credential-helpers, README.md. */
import { runProgram } from "../../node/index.ts";
import type { Login } from "./auth-file.ts";
import { LoginError } from "./errors.ts";

/** Milliseconds for one call. */
const HELPER_MS = 30_000;
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;
const NOT_FOUND = "credentials not found";
/** Characters of its message that are shown. */
const LONGEST_REASON = 500;

/** @throws LoginError login-failed */
export async function storeInHelper(helper: string, server: string, { username, password }: Login, timeoutMs = HELPER_MS): Promise<void> {
  const { failure } = await call(helper, "store", JSON.stringify({ ServerURL: server, Username: username, Secret: password }), timeoutMs);
  if (failure !== undefined) throw new LoginError("login-failed", failure.replaceAll(password, "[hidden]"));
}

/** undefined: it has none for the registry. @throws LoginError login-failed */
export async function userInHelper(helper: string, server: string, timeoutMs = HELPER_MS): Promise<string | undefined> {
  const { failure, isUnknown, output } = await call(helper, "get", server, timeoutMs);
  if (isUnknown) return undefined;
  if (failure !== undefined) throw new LoginError("login-failed", failure);
  const { Username: username } = objectIn(output);
  if (typeof username === "string") return username;
  throw new LoginError("login-failed", `docker-credential-${helper} get has printed no JSON with a Username`);
}

/** Whether it had one. @throws LoginError login-failed */
export async function eraseInHelper(helper: string, server: string, timeoutMs = HELPER_MS): Promise<boolean> {
  const { failure, isUnknown } = await call(helper, "erase", server, timeoutMs);
  if (failure !== undefined && !isUnknown) throw new LoginError("login-failed", failure);
  return !isUnknown;
}

/** Registries for which it has passwords. @throws LoginError login-failed */
export async function listInHelper(helper: string, timeoutMs = HELPER_MS): Promise<string[]> {
  const { failure, output } = await call(helper, "list", "", timeoutMs);
  if (failure !== undefined) throw new LoginError("login-failed", failure);
  return Object.keys(objectIn(output));
}

interface Said {
  readonly failure: string | undefined;
  /** The helper has no password for the registry. */
  readonly isUnknown: boolean;
  readonly output: string;
}

/** Helpers print messages of errors to standard output. */
async function call(helper: string, action: "store" | "get" | "erase" | "list", input: string, timeoutMs: number): Promise<Said> {
  if (!NAME.test(helper)) throw new LoginError("login-failed", `${JSON.stringify(helper)} is no name of a credential helper`);
  const program = `docker-credential-${helper}`;
  const end = await runProgram(program, [action], { timeoutMs, input, isSecret: true });
  const output = end.stdout.toString();
  end.stdout.fill(0);
  if (end.error?.code === "ENOENT") throw new LoginError("login-failed", `${program}, which the file names, is not installed`);
  const text = `${output.trim() || end.stderr.trim()}`.replace(/\p{Cc}/gu, " ").slice(0, LONGEST_REASON);
  // What `get` prints may have the password.
  const reason = action === "get" || text === "" ? "" : `: ${text}`;
  return {
    output,
    isUnknown: end.failure !== undefined && output.toLowerCase().includes(NOT_FOUND),
    failure: end.failure === undefined ? undefined : `${program} ${action} ${end.failure}${reason}`,
  };
}

function objectIn(text: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(text)) as Readonly<Record<string, unknown>>;
  } catch {
    return {};
  }
}
