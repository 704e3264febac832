/** Runs a program of the host that ends soon, such as mount(8). After its time it gets SIGKILL, and the wait ends even if the program hangs in the kernel. */
import { spawn } from "node:child_process";

/** Milliseconds. An unmount writes what is not on the disk yet. */
export const PROGRAM_MS = 120_000;
const MOST_OUTPUT = 1 << 20;

export interface Bound {
  readonly timeoutMs?: number;
  readonly env?: NodeJS.ProcessEnv;
}

/** Returns its standard output. @throws Error: its message, with its `code` where it could not be started */
export function runBounded(program: string, args: readonly string[], { timeoutMs = PROGRAM_MS, env }: Bound = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, [...args], { stdio: ["ignore", "pipe", "pipe"], cwd: "/", ...(env === undefined ? {} : { env }) });
    const [stdout, stderr] = [collect(child.stdout), collect(child.stderr)];
    const timer = setTimeout(() => {
      child.kill("SIGKILL");
      for (const stream of [child.stdout, child.stderr]) stream.destroy();
      child.unref();
      reject(new Error(`${program} ${args.join(" ")} has not ended within ${timeoutMs / 1000} s`));
    }, timeoutMs);
    child.once("error", (error) => {
      clearTimeout(timer);
      reject(error);
    });
    child.once("close", (code, signal) => {
      clearTimeout(timer);
      if (code === 0) resolve(stdout());
      else reject(new Error(`${program} has failed: ${stderr().trim() || (signal ?? `status ${code}`)}`));
    });
  });
}

function collect(stream: NodeJS.ReadableStream): () => string {
  const chunks: Buffer[] = [];
  let size = 0;
  stream.on("data", (chunk: Buffer) => {
    if (size < MOST_OUTPUT) chunks.push(chunk.subarray(0, MOST_OUTPUT - size));
    size += chunk.length;
  });
  return () => Buffer.concat(chunks).toString();
}
