/** Opens a connection from inside a container's network namespace, as a stream of this process. */
import { spawn } from "node:child_process";
import { Duplex } from "node:stream";
import type { TcpCheck } from "../spec/index.ts";
import type { Checked, Probe } from "./probe.ts";

const LONGEST_TEXT = 4096;

/** Returns the result of `work`. If it fails or takes too long, the check has failed. @throws the error of spawn(2) */
export async function overConnection(
  { port, address }: TcpCheck,
  { program, namespace, timeoutMs }: Probe,
  work: (connection: Duplex) => Promise<Checked>,
): Promise<Checked> {
  const child = spawn(program, ["connect", namespace, address, String(port)], { stdio: "pipe", cwd: "/" });
  let told = "";
  child.stderr.on("data", (chunk: Buffer) => {
    told = (told + chunk.toString()).slice(0, LONGEST_TEXT);
  });
  try {
    await new Promise<void>((resolve, reject) => child.once("spawn", resolve).once("error", reject));
    const connection = Duplex.from({ readable: child.stdout, writable: child.stdin });
    connection.on("error", () => {});
    return await within(timeoutMs, work(connection));
  } catch (error) {
    const message = error instanceof DeadlinePassed ? `no answer within ${timeoutMs} ms` : (error as Error).message;
    if (child.pid === undefined) throw error;
    return { isHealthy: false, output: told.trim() || message };
  } finally {
    child.kill("SIGKILL");
  }
}

class DeadlinePassed extends Error {}

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new DeadlinePassed()), ms);
  });
  try {
    return await Promise.race([work, over]);
  } finally {
    clearTimeout(timer);
    work.catch(() => {});
  }
}
