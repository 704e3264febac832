/** Run a program to its end. */
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PATIENCE_MS } from "./patience.ts";

export interface Result {
  /** 137 for SIGKILL, 255 for any other signal. */
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CallOptions {
  readonly cwd?: string;
  /** Added to the environment of the tests. */
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  /** Descriptors of this process handed over as 3, 4, ... */
  readonly extra?: readonly number[];
  /** Called with the child as soon as it runs, and the path of the file that it prints to. */
  readonly started?: (child: ChildProcess, output: string) => void;
}

let count = 0;

/** Output goes to files. A container that lives on keeps a pipe open, and the caller would wait for its end. */
export async function call(directory: string, command: readonly string[], options: CallOptions = {}): Promise<Result> {
  const name = join(directory, `call-${++count}`);
  writeFileSync(`${name}.in`, options.input ?? "");
  const fds = [openSync(`${name}.in`, "r"), openSync(`${name}.out`, "w"), openSync(`${name}.err`, "w")];
  try {
    const [file = "", ...args] = command;
    const child = spawn(file, args, {
      stdio: [...fds, ...(options.extra ?? [])],
      timeout: PATIENCE_MS,
      killSignal: "SIGKILL",
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
      env: { ...process.env, ...options.env },
    });
    options.started?.(child, `${name}.out`);
    const status = await new Promise<number>((done, failed) => {
      child.on("error", failed);
      child.on("exit", (code, signal) => done(code ?? (signal === "SIGKILL" ? 137 : 255)));
    });
    return { status, stdout: readFileSync(`${name}.out`, "utf8"), stderr: readFileSync(`${name}.err`, "utf8") };
  } finally {
    for (const fd of fds) closeSync(fd);
  }
}
