/** Health checks over the network. The connection is made from inside the container's network, so that loopback is the container's. */

import type { Duplex } from "node:stream";
import { connect } from "node:tls";
import { lastLines } from "../network/index.ts";
import type { HttpCheck, TcpCheck } from "../spec/index.ts";
import { type Checked, overConnection, overRelay, type Probe } from "./connection.ts";
import { closed } from "./relay.ts";

/** Longest part of a response body, in bytes, that is kept to explain a failure. */
const LONGEST_BODY = 512;
/** Maximum number of characters of a response that are kept. */
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
    const whole = new Promise<void>((resolve) => {
      output.setEncoding("utf8").on("data", (chunk: string) => {
        if (text.length < LONGEST_ANSWER) text += chunk;
        if (isWhole(text)) resolve();
      });
    });
    input.end(requestText(check));
    // Some servers keep the connection although they are asked to close it.
    await Promise.race([whole, Promise.all([ended, closed(output)])]);
    return resultOf(text);
  });
  // A response counts even if the server does not close the connection in time.
  return text === "" ? checked : resultOf(text);
}

/** Turns a response into the result of a check. @throws Error: the response is empty */
function resultOf(text: string): Checked {
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

// Formats an HTTP/1.1 request, and parses the response (RFC 9112).

/** The request asks the server to close the connection, which then marks the end of the response. */
export function requestText({ port, path, address, headers }: HttpCheck): string {
  const host = address.includes(":") ? `[${address}]` : address;
  const all = { host: `${host}:${port}`, "user-agent": "runtd", accept: "*/*", ...lowerCase(headers), connection: "close" };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `GET ${path} HTTP/1.1\r\n${lines.join("")}\r\n`;
}

function lowerCase(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

interface HttpAnswer {
  readonly status: number;
  readonly line: string;
  /** The bytes that follow the headers, not decoded. */
  readonly body: string;
}

/** undefined: the text is no HTTP/1 response. */
export function readAnswer(text: string): HttpAnswer | undefined {
  const [head = "", ...body] = text.split("\r\n\r\n");
  const [line = ""] = head.split("\r\n");
  const status = /^HTTP\/1\.[01] ([1-5]\d\d)(?: |$)/.exec(line)?.[1];
  return status === undefined ? undefined : { status: Number(status), line, body: body.join("\r\n\r\n") };
}

/** Whether the response has ended by what its headers say, even if the connection goes on. Source: RFC 9112, "Message Body Length". */
export function isWhole(text: string): boolean {
  const end = text.indexOf("\r\n\r\n");
  const status = end < 0 ? undefined : readAnswer(text)?.status;
  if (status === undefined) return false;
  if (status === 204 || status === 304) return true;
  const head = text.slice(0, end + 2).toLowerCase();
  if (/\r\ntransfer-encoding: *chunked *\r\n/.test(head)) return text.endsWith("\r\n0\r\n\r\n") || text.slice(end + 4) === "0\r\n\r\n";
  const length = /\r\ncontent-length: *(\d{1,9}) *\r\n/.exec(head)?.[1];
  return length !== undefined && Buffer.byteLength(text.slice(end + 4)) >= Number(length);
}

// Health checks over HTTPS. Like the kubelet, it accepts any certificate, whatever its name and
// issuer.

/** Healthy: a response with a status from 200 to 399 arrived in time. @throws the errors of `start` */
export function probeHttps(check: HttpCheck, probe: Probe): Promise<Checked> {
  return overConnection(check, probe, async (connection) => resultOf(await responseOverTls(connection, requestText(check))));
}

/** @throws Error: no TLS connection could be made */
function responseOverTls(connection: Duplex, request: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    const encrypted = connect({ socket: connection, rejectUnauthorized: false }, () => encrypted.write(request));
    encrypted.on("data", (chunk: Buffer) => {
      text += chunk.toString();
      if (text.length >= LONGEST_ANSWER || isWhole(text)) resolve(text);
    });
    // Many servers close the connection without the TLS close_notify alert.
    encrypted.on("error", (error) => (text === "" ? reject(error) : resolve(text)));
    encrypted.on("close", () => resolve(text));
    encrypted.on("end", () => resolve(text));
  });
}
