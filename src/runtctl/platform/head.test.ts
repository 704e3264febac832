import { expect, test } from "vitest";
import { endOfHead, parseHead } from "./head.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const GARBLED = "what answers does not speak HTTP";

test("the head ends with the first empty line, wherever it is cut", () => {
  const text = "HTTP/1.1 200 OK\r\nA: b\r\n\r\n";
  for (let length = 0; length < text.length; length++) expect(endOfHead(bytes(text.slice(0, length)))).toBe(undefined);
  expect(endOfHead(bytes(`${text}{}`))).toBe(text.length);
});

test.each(["x", "HTTP/2 200", "http/1.1 200 OK", "\r\nHTTP/1.1 200 OK", `HTTP/1.1 200 OK\r\n${"a: b\r\n".repeat(20_000)}`])(
  "%# begins no head",
  (text) => {
    expect(() => endOfHead(bytes(text))).toThrow(GARBLED);
  },
);

test.each([
  ["200 OK", [], 200, "close", false],
  ["200 OK", ["Content-Length: 5"], 200, 5, true],
  ["200", ["content-length:5\t"], 200, 5, true],
  ["404 Not Found", ["Content-Length: 0", "Connection: Close"], 404, 0, false],
  ["200 OK", ["Transfer-Encoding: Chunked"], 200, "chunked", true],
  ["204 No Content", ["X: "], 204, 0, true],
  ["304 Not Modified", ["Content-Length: 9"], 304, 0, true],
  ["100 Continue", [], 100, 0, true],
] as const)("%s with %j", (status, fields, number, extent, isKept) => {
  expect(parseHead([`HTTP/1.1 ${status}`, ...fields, "", ""].join("\r\n"))).toEqual({ status: number, extent, isKept });
});

test("a connection of HTTP/1.0 is not used again", () => {
  expect(parseHead("HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\n").isKept).toBe(false);
});

test.each([
  ...[
    "HTTP/1.1 99 No\r\n\r\n",
    "HTTP/1.1 2000 No\r\n\r\n",
    "HTTP/1.2 200 OK\r\n\r\n",
    "HTTP/1.1  200 OK\r\n\r\n",
    "HTTP/1.1 200 O\rK\r\n\r\n",
  ],
  ...["No colon", " Folded: x", "Na me: x", ": x", "A: x\0y", "A: x\ry"].map((field) => `HTTP/1.1 200 OK\r\n${field}\r\n\r\n`),
  ...["+1", "-1", "0x1", "1e3", "", "1, 1", "9".repeat(16)].map((length) => `HTTP/1.1 200 OK\r\nContent-Length: ${length}\r\n\r\n`),
  "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n",
  "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
  "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
  "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
])("%j is no head", (text) => {
  expect(() => parseHead(text)).toThrow(GARBLED);
});
