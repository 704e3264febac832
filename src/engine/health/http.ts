/** One request of HTTP/1.1, and the first line of its answer (RFC 9112). Pure. */
import type { HttpCheck } from "../spec/index.ts";

/** The server is asked to close the connection: that is the end of its answer. */
export function requestText({ port, path, address, headers }: HttpCheck): string {
  const host = address.includes(":") ? `[${address}]` : address;
  const all = { host: `${host}:${port}`, "user-agent": "runtd", accept: "*/*", ...lowerCase(headers), connection: "close" };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `GET ${path} HTTP/1.1\r\n${lines.join("")}\r\n`;
}

function lowerCase(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

export interface HttpAnswer {
  readonly status: number;
  readonly line: string;
  /** What is behind the headers, as it was sent. */
  readonly body: string;
}

/** undefined: it is none. */
export function readAnswer(text: string): HttpAnswer | undefined {
  const [head = "", ...body] = text.split("\r\n\r\n");
  const [line = ""] = head.split("\r\n");
  const status = /^HTTP\/1\.[01] ([1-5]\d\d)(?: |$)/.exec(line)?.[1];
  return status === undefined ? undefined : { status: Number(status), line, body: body.join("\r\n\r\n") };
}
