/** HTTP byte for byte, for tests: requests that clients of Node would not send. */
import { connect } from "node:net";

export interface RawAnswer {
  readonly status: number;
  readonly head: string;
  readonly text: string;
}

/** One request, byte for byte, and all of the answer. */
export function raw(place: string | number, request: string): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const socket = typeof place === "string" ? connect(place) : connect(place, "127.0.0.1");
    let received = "";
    socket.on("data", (chunk) => {
      received += chunk.toString();
    });
    socket.once("error", reject);
    socket.once("close", () => {
      const [head = "", ...body] = received.split("\r\n\r\n");
      const text = /transfer-encoding: chunked/i.test(head) ? unchunked(body.join("\r\n\r\n")) : body.join("\r\n\r\n");
      resolve({ status: Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1]), head, text });
    });
    socket.write(request);
  });
}

function unchunked(text: string): string {
  const [, size = "0", rest = ""] = /^([0-9a-f]+)\r\n(.*)$/is.exec(text) ?? [];
  const length = Number.parseInt(size, 16);
  return length === 0 ? "" : rest.slice(0, length) + unchunked(rest.slice(length + 2));
}

export const requestOf = (method: string, path: string, body: unknown, headers: Readonly<Record<string, string>> = {}) => {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const all = {
    Host: "x",
    "Content-Type": "application/json",
    "Content-Length": String(Buffer.byteLength(text)),
    Connection: "close",
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n${text}`;
};
