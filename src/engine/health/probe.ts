/** Health checks over the network. The connection is made from inside the container's network, so that loopback is the container's. */

import type { Duplex } from "node:stream";
import { connect } from "node:tls";
import { lastLines } from "../network/index.ts";
import type { HttpCheck, TcpCheck } from "../spec/index.ts";
import { type Checked, overConnection, overRelay, type Probe } from "./connection.ts";
import { closed } from "./relay.ts";

/** Characters of the first line of a response, and of its body, that explain a failure. */
const LONGEST_PART = 512;

/** Healthy: the connection was made in time. @throws the errors of `start` */
export function probeTcp(check: TcpCheck, probe: Probe): Promise<Checked> {
  return overRelay("reach", check, probe, async ({ ended }) => {
    if ((await ended) !== 0) throw new Error(CLOSED);
    return { isHealthy: true, output: "" };
  });
}

/** Healthy: a response with a status from 200 to 399 arrived in time. @throws the errors of `start` */
export async function probeHttp(check: HttpCheck, probe: Probe): Promise<Checked> {
  const answer = new AnswerReader();
  const checked = await overRelay("connect", check, probe, async ({ input, output, ended }) => {
    const whole = new Promise<void>((resolve) => {
      output.on("data", (chunk: Buffer) => {
        if (!answer.add(chunk)) return;
        output.destroy();
        resolve();
      });
    });
    input.end(requestText(check));
    // Some servers keep the connection although they are asked to close it.
    await Promise.race([whole, Promise.all([ended, closed(output)])]);
    return resultOf(answer.text);
  });
  // A response counts even if the server does not close the connection in time.
  return answer.text === "" ? checked : resultOf(answer.text);
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
    output: [answer.line, ...(isHealthy ? [] : [answer.body])]
      .map((part) => part.slice(0, LONGEST_PART))
      .filter(Boolean)
      .join("\n"),
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

/** Bytes of a response that are read. */
const LONGEST_ANSWER = 65_536;
const END_OF_HEAD = Buffer.from("\r\n\r\n");
/** Ends a chunked body, which may consist of nothing else. */
const LAST_CHUNK = "\r\n0\r\n\r\n";

/** Reads a response as it comes. Each byte is looked at once, in however small pieces a server sends it. */
export class AnswerReader {
  readonly #pieces: Buffer[] = [];
  #bytes = 0;
  /** The last bytes of all, enough to find an end that comes in pieces. */
  #last: Buffer = Buffer.alloc(0);
  /** How the body ends, and where it begins; undefined: the head has not ended. */
  #body: { readonly start: number; readonly end: BodyEnd } | undefined;

  /**
   * True: no more is needed. The response has ended by what its headers say, even if the connection goes on, or it is longer than what is read of it.
   * Source: RFC 9112, "Message Body Length".
   */
  add(chunk: Buffer): boolean {
    const before = this.#bytes - this.#last.length;
    const seen = Buffer.concat([this.#last, chunk]);
    this.#pieces.push(chunk.subarray(0, Math.max(0, LONGEST_ANSWER - this.#bytes)));
    this.#bytes += chunk.length;
    const end = this.#body === undefined ? seen.indexOf(END_OF_HEAD) : -1;
    if (end >= 0) this.#body = { start: before + end + END_OF_HEAD.length, end: bodyEndOf(this.text) };
    this.#last = seen.subarray(Math.max(0, seen.length - LAST_CHUNK.length));
    return this.#bytes >= LONGEST_ANSWER || this.#isWhole();
  }

  #isWhole(): boolean {
    if (this.#body === undefined) return false;
    const { start, end } = this.#body;
    const length = this.#bytes - start;
    if (end !== "chunked") return end !== "close" && length >= end;
    const last = this.#last.toString("latin1");
    return length >= LAST_CHUNK.length ? last === LAST_CHUNK : length === LAST_CHUNK.length - 2 && last.endsWith(LAST_CHUNK.slice(2));
  }

  /** The bytes that were read so far. */
  get text(): string {
    return Buffer.concat(this.#pieces).toString();
  }
}

/** After so many bytes, with a last chunk, or with the connection. */
type BodyEnd = number | "chunked" | "close";

/** @param text of a response whose head is whole */
function bodyEndOf(text: string): BodyEnd {
  const status = readAnswer(text)?.status;
  if (status === undefined) return "close";
  if (status === 204 || status === 304) return 0;
  const head = text.slice(0, text.indexOf("\r\n\r\n") + 2).toLowerCase();
  if (/\r\ntransfer-encoding: *chunked *\r\n/.test(head)) return "chunked";
  const length = /\r\ncontent-length: *(\d{1,9}) *\r\n/.exec(head)?.[1];
  return length === undefined ? "close" : Number(length);
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
    const answer = new AnswerReader();
    const encrypted = connect({ socket: connection, rejectUnauthorized: false }, () => encrypted.write(request));
    encrypted.on("data", (chunk: Buffer) => {
      if (!answer.add(chunk)) return;
      resolve(answer.text);
      encrypted.destroy();
    });
    // Many servers close the connection without the TLS close_notify alert.
    encrypted.on("error", (error) => (answer.text === "" ? reject(error) : resolve(answer.text)));
    encrypted.on("close", () => resolve(answer.text));
    encrypted.on("end", () => resolve(answer.text));
  });
}
