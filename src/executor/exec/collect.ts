/** A further process whose output is collected. */
import { Ring } from "../ring.ts";
import { ExecHandle, type ExecTarget } from "./handle.ts";
import { DEFAULT_RING, type ExecRequest, type ExecResult } from "./request.ts";

/** @throws what ExecHandle.wait throws */
export async function exec(target: ExecTarget, request: ExecRequest): Promise<ExecResult> {
  const { input, ringBytes = DEFAULT_RING, separate = false } = request;
  const handle = await ExecHandle.start(target, request, { stdin: input === undefined ? "null" : "pipe" }, true);
  const output = new Ring(ringBytes);
  const error = separate ? new Ring(ringBytes) : output;
  handle.stdout?.on("data", (chunk: Buffer) => output.push(chunk));
  handle.stderr?.on("data", (chunk: Buffer) => error.push(chunk));
  handle.stdin?.end(input);
  const end = await handle.wait();
  return { ...end, output: output.bytes(), outputBytes: output.total, ...(separate ? { stderr: error.bytes() } : {}) };
}
