/** Health checks over the network. The connection is made from inside the container's network namespace, so that loopback is the container's. */
import { type CommandResult, lastLines, runCommand } from "../network/index.ts";
import type { HttpCheck, TcpCheck } from "../spec/index.ts";
import { readAnswer, requestText } from "./http.ts";

export interface Probe {
  /** Path of runt-pause, which makes the connection. */
  readonly program: string;
  /** Path of the network namespace. */
  readonly namespace: string;
  readonly timeoutMs: number;
}

export interface Checked {
  readonly isHealthy: boolean;
  readonly output: string;
  /** Status of the HTTP response; absent: there was none. */
  readonly status?: number;
}

/** Longest part of a response body, in bytes, that is kept to explain a failure. */
const LONGEST_BODY = 512;

/** Healthy: the connection was made in time. @throws the error of spawn(2) */
export async function probeTcp({ port, address }: TcpCheck, probe: Probe): Promise<Checked> {
  const result = await run("reach", { port, address }, probe);
  return { isHealthy: result.status === 0, output: result.status === 0 ? "" : explained(result, probe) };
}

/** Healthy: a response with a status from 200 to 399 arrived in time. @throws the error of spawn(2) */
export async function probeHttp(check: HttpCheck, probe: Probe): Promise<Checked> {
  const result = await run("connect", check, probe, requestText(check));
  return result.stdout === "" ? { isHealthy: false, output: explained(result, probe) } : judged(result.stdout);
}

/** Turns a response into the result of a check. */
export function judged(text: string): Checked {
  const answer = readAnswer(text);
  if (answer === undefined) return { isHealthy: false, output: text === "" ? CLOSED : `no answer of HTTP/1: ${lastLines(text)}` };
  const isHealthy = answer.status >= 200 && answer.status < 400;
  return {
    isHealthy,
    status: answer.status,
    output: isHealthy ? answer.line : [answer.line, answer.body.slice(0, LONGEST_BODY)].filter(Boolean).join("\n"),
  };
}

const CLOSED = "the connection was closed without an answer";

function run(verb: "reach" | "connect", { port, address }: TcpCheck, probe: Probe, input = ""): Promise<CommandResult> {
  const { program, namespace, timeoutMs } = probe;
  return runCommand({ program, args: [verb, namespace, address, String(port)], input, timeoutMs });
}

function explained({ isTimedOut, stderr }: CommandResult, { timeoutMs }: Probe): string {
  return isTimedOut ? `no answer within ${timeoutMs} ms` : lastLines(stderr) || CLOSED;
}
