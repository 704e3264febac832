/** Asks a registry whether it accepts a user and a password. */
import { runProgram } from "../../node/index.ts";
import { redact } from "../secrets/index.ts";
import { ImageError } from "./errors.ts";
import { assertInstalled, reasonIn } from "./tool.ts";
import { within } from "./waiting.ts";

export interface LoginCheck {
  /** HOST[:PORT], or HOST[:PORT]/NAMESPACE. */
  readonly registry: string;
  readonly username: string;
  readonly password: string;
}

/** Milliseconds in which the registry must have answered. */
const ANSWER_MS = 60_000;
/**
 * skopeo also writes the password to a file. The file is in a tmpfs that only this process sees, and that ends with it. The registry is asked over TLS, or not, as
 * registries.conf of the host says for pulls, too.
 */
const CHECK =
  'mount -t tmpfs -o mode=700,size=1m runt-login "$1" && exec skopeo login --authfile="$1/auth.json" --username="$2" --password-stdin -- "$3"';

/**
 * @param directory an empty directory, which stays empty
 * @throws ImageError pull-failed: the registry refuses them, or does not answer; program-missing; the reason of `signal`
 */
export async function checkLogin({ registry, username, password }: LoginCheck, directory: string, signal: AbortSignal): Promise<void> {
  assertInstalled("skopeo");
  const late = () => new ImageError("pull-timeout", `the registry ${registry} has not answered within ${ANSWER_MS / 1000} s`);
  const words = ["--mount", "sh", "-c", CHECK, "sh", directory, username, registry];
  const check = async (bounded: AbortSignal) => {
    const end = await runProgram("unshare", words, { timeoutMs: Number.POSITIVE_INFINITY, signal: bounded, input: password });
    bounded.throwIfAborted();
    return end;
  };
  const { failure, message, stderr } = await within(ANSWER_MS, signal, check, late);
  if (failure !== undefined)
    throw new ImageError("pull-failed", redact(reasonIn(stderr) || message, [password, `${username}:${password}`]));
}
