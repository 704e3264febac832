/** Formats an HTTP/1.1 request, and parses the response (RFC 9112). Pure. */
import type { HttpCheck } from "../spec/index.ts";

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

export interface HttpAnswer {
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
