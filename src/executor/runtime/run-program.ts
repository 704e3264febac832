/**
 * A program, from its start to its end. execa does the same and more; here it is on the way of every launch, and a fifth of the time that starting
 * a program took was its own: it reads the environment anew, and sets and removes handlers of twenty signals.
 */
import { spawn } from "node:child_process";
import { endWithThis } from "../exec/children.ts";
import type { Stream } from "./stdio.ts";

export interface ProgramOptions {
  /** Standard streams, and what it has as further descriptors. What is "pipe" is collected, or written. */
  readonly stdio: readonly [Stream, Stream, Stream, ...number[]];
  /** Text for stdin. */
  readonly input?: string | undefined;
  /** Kills it. */
  readonly abort?: AbortSignal | undefined;
  readonly cwd?: string;
}

export interface ProgramEnd {
  /** undefined: a signal has ended it, or it was not started. */
  readonly exitCode: number | undefined;
  readonly signal: NodeJS.Signals | undefined;
  readonly stdout: string;
  readonly stderr: string;
  /** What has happened, in a few words; empty for one that has exited with 0. */
  readonly message: string;
}

/** Never rejects. The program is ended with this process, when that ends in an orderly way. */
export function runProgram(program: string, args: readonly string[], { stdio, input, abort, cwd }: ProgramOptions): Promise<ProgramEnd> {
  const notRun = (why: string): ProgramEnd => ({
    ...{ exitCode: undefined, signal: undefined, stdout: "", stderr: "" },
    message: `${program} could not be started: ${why}`,
  });
  if (abort?.aborted) return Promise.resolve(notRun("it is not wanted any more"));
  return new Promise((resolve) => {
    const child = spawn(program, [...args], { stdio: [...stdio], ...(cwd === undefined ? {} : { cwd }) });
    const kill = () => void child.kill("SIGKILL");
    endWithThis(child);
    abort?.addEventListener("abort", kill);
    const [stdout, stderr] = [textOf(child.stdout), textOf(child.stderr)];
    const end = (result: ProgramEnd) => {
      abort?.removeEventListener("abort", kill);
      resolve(result);
    };
    child.once("error", (error) => end(notRun(error.message)));
    child.once("close", (code, signal) => {
      const message = code === 0 ? "" : `${program} ${code === null ? `was ended by ${signal}` : `has failed with the status ${code}`}`;
      end({ exitCode: code ?? undefined, signal: signal ?? undefined, stdout: stdout(), stderr: stderr(), message });
    });
    if (child.stdin === null) return;
    // It may end before it has read everything.
    child.stdin.on("error", () => {});
    child.stdin.end(input);
  });
}

function textOf(stream: NodeJS.ReadableStream | null): () => string {
  const chunks: Buffer[] = [];
  stream?.on("data", (chunk: Buffer) => chunks.push(chunk));
  return () => Buffer.concat(chunks).toString();
}
