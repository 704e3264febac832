/** Runs skopeo and umoci. Each gets a process group of its own, so that it can be killed with all its children. */
import { type ChildProcess, spawn } from "node:child_process";
import { accessSync, constants, statSync } from "node:fs";
import { join } from "node:path";
import { killGroup, PROGRAM_MS } from "../own/index.ts";
import { ImageError } from "./errors.ts";

const PACKAGES: Readonly<Record<string, string>> = {
  skopeo: "skopeo",
  umoci: "umoci",
  mount: "mount",
  umount: "mount",
  unshare: "util-linux",
  cp: "coreutils",
  sync: "coreutils",
};

export interface ProgramOptions {
  readonly cwd?: string;
  /** More of the environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** It and its children are killed. */
  readonly signal?: AbortSignal;
  /** They are killed after so many milliseconds, and are not waited for any longer. Default: two minutes where there is no signal, and none where there is one. */
  readonly timeoutMs?: number;
  /** Most bytes of stdout; more is an error. Default: 4 MiB. */
  readonly mostOutput?: number;
  /** Descriptors that it has as 3 and so on. */
  readonly descriptors?: readonly number[];
}

const MOST_OUTPUT = 4 << 20;
/** How much of stderr is kept: the end, which has the reason. */
const MOST_STDERR = 16 << 10;
/** Longest message of a task. Names in an image may be much longer. */
const LONGEST_REASON = 1000;

/** Returns stdout. @throws ImageError program-missing, pull-failed; the reason of `signal` */
export async function runProgram(program: string, args: readonly string[], options: ProgramOptions = {}): Promise<Buffer> {
  const { cwd, env, signal, mostOutput = MOST_OUTPUT, descriptors = [] } = options;
  const { timeoutMs = signal === undefined ? PROGRAM_MS : undefined } = options;
  signal?.throwIfAborted();
  const child = spawn(program, [...args], {
    ...{ cwd, detached: true, env: { ...process.env, ...env } },
    stdio: ["ignore", "pipe", "pipe", ...descriptors],
  });
  const kill = () => endGroup(child);
  signal?.addEventListener("abort", kill);
  let timer: NodeJS.Timeout | undefined;
  const isLate = new Promise<never>((_, reject) => {
    const late = () => {
      kill();
      child.unref();
      reject(new ImageError("pull-failed", `${program} has not ended within ${timeoutMs! / 1000} s`));
    };
    if (timeoutMs !== undefined) timer = setTimeout(late, timeoutMs);
  });
  try {
    const { stdout, stderr, how } = await Promise.race([ended(child, program, mostOutput), isLate]);
    signal?.throwIfAborted();
    if (how !== undefined) throw new ImageError("pull-failed", `${program} ${how}${stderr === "" ? "" : `: ${stderr}`}`);
    return stdout;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", kill);
  }
}

/** For a program that a shell starts: one that is missing would look like an error of the shell. @throws ImageError program-missing */
export function assertInstalled(program: string): void {
  const directories = (process.env["PATH"] ?? "").split(":");
  if (!directories.some((directory) => isExecutable(join(directory, program)))) throw missingError(program);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

interface End {
  readonly stdout: Buffer;
  readonly stderr: string;
  /** undefined: it succeeded. */
  readonly how: string | undefined;
}

function ended(child: ChildProcess, program: string, mostOutput: number): Promise<End> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let errors = "";
    child.stdout!.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > mostOutput) endGroup(child);
      else chunks.push(chunk);
    });
    child.stderr!.on("data", (chunk: Buffer) => {
      errors = (errors + chunk.toString()).slice(-MOST_STDERR);
    });
    child.once("error", (error: NodeJS.ErrnoException) => reject(startError(program, error)));
    child.once("close", (code, signal) => {
      const how =
        size > mostOutput ? `has printed more than ${mostOutput} bytes` : signal ? `was ended by ${signal}` : `has failed (${code})`;
      resolve({ stdout: Buffer.concat(chunks), stderr: reasonIn(errors), how: code === 0 && size <= mostOutput ? undefined : how });
    });
  });
}

function startError(program: string, error: NodeJS.ErrnoException): ImageError {
  if (error.code !== "ENOENT") return new ImageError("pull-failed", `${program} could not be started: ${error.message}`, { cause: error });
  return missingError(program);
}

function missingError(program: string): ImageError {
  return new ImageError("program-missing", `${program} is not installed: apt-get install ${PACKAGES[program] ?? program}`);
}

/** A process that left the group may hold the pipes open. Nothing more is read from them, so nobody waits for it. */
function endGroup(child: ChildProcess): void {
  child.stdout?.destroy();
  child.stderr?.destroy();
  killGroup(child);
}

/** skopeo and umoci log lines of key=value; the last one that is fatal says it. Control characters could be commands for a terminal. */
function reasonIn(text: string): string {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const last = lines.findLast((line) => /level=(?:fatal|error)|⨯|^umount: |^mount: /.test(line)) ?? lines.at(-1) ?? "";
  const message = /msg="((?:[^"\\]|\\.)*)"/.exec(last)?.[1]?.replaceAll('\\"', '"') ?? last.trim();
  return message.replace(/\p{Cc}/gu, " ").slice(0, LONGEST_REASON);
}
