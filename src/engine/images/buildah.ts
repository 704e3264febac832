/** Runs buildah so that all its processes and mounts end with it. */
import { StringDecoder } from "node:string_decoder";
import { runProgram } from "../../node/index.ts";
import { ImageError } from "./errors.ts";

/** Maximum number of characters of a line that is passed on. */
const LONGEST_LINE = 4096;
/** Arguments of unshare(1). Processes of buildah end with their pid namespace, and its mounts with their mount namespace. */
const APART = ["--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "--propagation", "slave"];
/** Libraries of buildah keep caches in these directories, whatever storage is given. A tmpfs hides those of the host. */
const HIDDEN = "/var/lib/containers /var/cache/containers";
const HIDE = `for d in ${HIDDEN}; do mkdir -p $d && mount -t tmpfs -o mode=700 runt-builder $d || exit; done; exec "$@"`;

export class Buildah {
  readonly #run: string;
  readonly #env: NodeJS.ProcessEnv;
  readonly #signal: AbortSignal;

  constructor(run: string, env: NodeJS.ProcessEnv, signal: AbortSignal) {
    this.#run = run;
    this.#env = env;
    this.#signal = signal;
  }

  /** @throws ImageError: buildah has failed; the reason of the signal */
  async output(args: readonly string[]): Promise<void> {
    const end = await this.#start(args, {});
    if (end.failure !== undefined) throw new ImageError("build-failed", `buildah ${args[0]}: ${end.stderr.trim() || end.failure}`);
  }

  /** @param onLine called with each line of output. @throws ImageError: buildah has failed; the reason of the signal */
  async run(args: readonly string[], descriptors: readonly number[], onLine: (line: string) => void): Promise<void> {
    const lines = new Lines(onLine);
    const end = await this.#start(args, { descriptors, onOutput: (bytes) => lines.add(bytes), isOne: true });
    lines.end();
    if (end.failure !== undefined) throw new ImageError("build-failed", lines.reason || end.failure);
  }

  /** @param isOne whether standard error goes to standard output, which keeps the order of the lines */
  async #start(
    args: readonly string[],
    { isOne = false, ...options }: { descriptors?: readonly number[]; onOutput?: (bytes: Buffer) => void; isOne?: boolean },
  ) {
    const script = isOne ? `exec 2>&1; ${HIDE}` : HIDE;
    const words = [...APART, "sh", "-c", script, "sh", "buildah", ...args];
    // There is no time limit here: the caller aborts the signal when the time of the build is over.
    const bounds = { timeoutMs: Number.POSITIVE_INFINITY, signal: this.#signal, env: this.#env, cwd: this.#run };
    const end = await runProgram("unshare", words, { ...bounds, ...options });
    this.#signal.throwIfAborted();
    return end;
  }
}

/** Splits output that comes in pieces into lines. */
class Lines {
  readonly #decoder = new StringDecoder("utf8");
  readonly #tell: (line: string) => void;
  #rest = "";
  #reason = "";

  constructor(tell: (line: string) => void) {
    this.#tell = tell;
  }

  /** The reason of a failure, from buildah's own error message. */
  get reason(): string {
    return this.#reason;
  }

  add(bytes: Buffer): void {
    const parts = `${this.#rest}${this.#decoder.write(bytes)}`.split("\n");
    this.#rest = parts.pop()!.slice(0, LONGEST_LINE);
    for (const line of parts) this.#line(line);
  }

  end(): void {
    if (this.#rest !== "") this.#line(this.#rest);
  }

  #line(written: string): void {
    // A terminal would show only the text after the last carriage return.
    const line = written.replace(/\r$/, "").replace(/^.*\r/s, "").slice(0, LONGEST_LINE);
    const [, reason] = /^error(?: building at STEP)?:? (.*)$/is.exec(line) ?? [];
    if (reason !== undefined)
      this.#reason = line
        .replace(/^error:? /i, "")
        .replace(/\p{Cc}/gu, " ")
        .slice(0, LONGEST_REASON);
    this.#tell(line);
  }
}

/** Maximum number of characters of a reason. buildah's messages may contain all of its options. */
const LONGEST_REASON = 500;
