/** Runs programs of the host, each with a limit in time and output. */
import { spawn } from "node:child_process";
import { killGroup } from "../own/index.ts";
import { NetworkError } from "./errors.ts";

export interface CommandRequest {
  readonly program: string;
  readonly args?: readonly string[];
  /** The complete environment. Default: that of this process, with the directories of administration programs added to PATH. */
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  readonly timeoutMs: number;
}

export interface CommandResult {
  /** null: a signal ended the process. */
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly isTimedOut: boolean;
}

/** PATH, extended by the directories of administration programs, which not every user has in it. */
export function searchPath(): string {
  return [process.env["PATH"] ?? "/usr/bin:/bin", "/usr/sbin", "/sbin"].join(":");
}

/** In bytes. Larger output is no valid answer. */
const LARGEST_OUTPUT = 1 << 20;

/**
 * Runs the program in a process group of its own, so that a timeout kills its children too. Output beyond 1 MiB is dropped.
 * @throws the error of spawn(2), such as ENOENT
 */
export function runCommand({ program, args = [], env, input = "", timeoutMs }: CommandRequest): Promise<CommandResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: "pipe", detached: true, cwd: "/", env: env ?? { ...process.env, PATH: searchPath() } });
    let isTimedOut = false;
    const timer = setTimeout(() => {
      isTimedOut = true;
      killGroup(child);
      // A process that has left the group may still hold the pipes open.
      for (const stream of [child.stdout, child.stderr]) stream.destroy();
    }, timeoutMs);
    const [stdout, stderr] = [collect(child.stdout), collect(child.stderr)];
    child.once("error", (error) => {
      clearTimeout(timer);
      reject(error);
    });
    child.once("close", (status) => {
      clearTimeout(timer);
      resolve({ status, stdout: stdout(), stderr: stderr(), isTimedOut });
    });
    // The program may exit before it has read all input.
    child.stdin.on("error", () => {});
    child.stdin.end(input);
  });
}

function collect(stream: NodeJS.ReadableStream): () => string {
  const chunks: Buffer[] = [];
  let size = 0;
  stream.on("data", (chunk: Buffer) => {
    if (size < LARGEST_OUTPUT) chunks.push(chunk.subarray(0, LARGEST_OUTPUT - size));
    size += chunk.length;
  });
  return () => Buffer.concat(chunks).toString();
}

/** The Debian package of each program, for messages. */
const PACKAGE: Readonly<Record<string, string>> = {
  ip: "iproute2",
  iptables: "iptables",
  "iptables-save": "iptables",
  "iptables-restore": "iptables",
  unshare: "util-linux",
  nsenter: "util-linux",
  mount: "mount",
  umount: "mount",
};

/** Runs a program and returns its standard output. @throws NetworkError program-missing, program-failed */
export async function output(program: string, args: readonly string[], timeoutMs: number, input = ""): Promise<string> {
  let result: CommandResult;
  try {
    result = await runCommand({ program, args, input, timeoutMs });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    throw new NetworkError(
      "program-missing",
      `the program ${program} is not installed: it is in the package ${PACKAGE[program] ?? program}`,
      { cause: error },
    );
  }
  const { status, stdout, stderr, isTimedOut } = result;
  if (status === 0 && !isTimedOut) return stdout;
  const how = isTimedOut ? `has not ended within ${timeoutMs} ms` : `has failed: ${lastLines(stderr) || `exit status ${status}`}`;
  throw new NetworkError("program-failed", `${[program, ...args].join(" ")} ${how}`);
}

const LONGEST_TOLD = 400;

/** The last lines of a text, joined to one line. */
export function lastLines(text: string): string {
  // No regular expression with two ends that are open: a program can print 1 MiB of blanks, for which that takes minutes.
  const lines = text.split("\n").map((line) => line.trim());
  const line = lines.filter((one) => one !== "").join("; ");
  return line.length > LONGEST_TOLD ? `...${line.slice(-LONGEST_TOLD)}` : line;
}
