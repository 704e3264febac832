/** Health checks over the network. The connection is made from inside the container's network, so that loopback is the container's. */
import { lastLines } from "../network/index.ts";
import type { HttpCheck, TcpCheck } from "../spec/index.ts";
import { type Checked, overRelay, type Probe } from "./connection.ts";
import { readAnswer, requestText } from "./http.ts";
import { closed } from "./relay.ts";

/** Longest part of a response body, in bytes, that is kept to explain a failure. */
const LONGEST_BODY = 512;
/** In characters. The rest of a longer response is not kept. */
const LONGEST_ANSWER = 65_536;

/** Healthy: the connection was made in time. @throws the errors of `start` */
export function probeTcp(check: TcpCheck, probe: Probe): Promise<Checked> {
  return overRelay("reach", check, probe, async ({ ended }) => {
    if ((await ended) !== 0) throw new Error(CLOSED);
    return { isHealthy: true, output: "" };
  });
}

/** Healthy: a response with a status from 200 to 399 arrived in time. @throws the errors of `start` */
export async function probeHttp(check: HttpCheck, probe: Probe): Promise<Checked> {
  let text = "";
  const checked = await overRelay("connect", check, probe, async ({ input, output, ended }) => {
    output.setEncoding("utf8").on("data", (chunk: string) => {
      if (text.length < LONGEST_ANSWER) text += chunk;
    });
    input.end(requestText(check));
    await Promise.all([ended, closed(output)]);
    return judged(text);
  });
  // A server that has answered and does not close the connection has answered.
  return text === "" ? checked : judged(text);
}

/** Turns a response into the result of a check. @throws Error: there is none */
export function judged(text: string): Checked {
  if (text === "") throw new Error(CLOSED);
  const answer = readAnswer(text);
  if (answer === undefined) return { isHealthy: false, output: `no answer of HTTP/1: ${lastLines(text)}` };
  const isHealthy = answer.status >= 200 && answer.status < 400;
  return {
    isHealthy,
    status: answer.status,
    output: isHealthy ? answer.line : [answer.line, answer.body.slice(0, LONGEST_BODY)].filter(Boolean).join("\n"),
  };
}

const CLOSED = "the connection was closed without an answer";
