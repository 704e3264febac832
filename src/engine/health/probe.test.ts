import { PassThrough, Readable } from "node:stream";
import { expect, test, vi } from "vitest";
import type { HttpCheck } from "../spec/index.ts";
import { AnswerReader, probeHttp, readAnswer, requestText } from "./probe.ts";

test("a request has its host, its headers once each, and asks for the end of the connection", () => {
  expect(
    requestText({ port: 80, path: "/live?a=1", address: "127.0.0.1", headers: { Host: "web", "X-Token": "t", Connection: "keep-alive" } }),
  ).toBe("GET /live?a=1 HTTP/1.1\r\nhost: web\r\nuser-agent: runtd\r\naccept: */*\r\nx-token: t\r\nconnection: close\r\n\r\n");
  expect(requestText({ port: 8080, path: "/", address: "::1", headers: {} })).toContain("\r\nhost: [::1]:8080\r\n");
});

test("an answer is known by its first line", () => {
  expect(readAnswer("HTTP/1.1 503 Busy\r\ncontent-length: 2\r\n\r\nno")).toEqual({ status: 503, line: "HTTP/1.1 503 Busy", body: "no" });
  expect(readAnswer("HTTP/1.0 204\r\n\r\n")).toEqual({ status: 204, line: "HTTP/1.0 204", body: "" });
  for (const text of ["", "SSH-2.0-x\r\n", "HTTP/1.1 999 x\r\n\r\n", "HTTP/2 200 x\r\n\r\n", "HTTP/1.1 2000\r\n"])
    expect(readAnswer(text)).toBeUndefined();
});

/** Whether a response is known to be whole after its last piece, if it comes in pieces of so many bytes. */
function isWhole(text: string, size = text.length): boolean {
  const answer = new AnswerReader();
  const bytes = Buffer.from(text);
  let isOver = false;
  for (let at = 0; at < bytes.length; at += size) {
    expect(isOver, `${text} is over before byte ${at}`).toBe(false);
    isOver = answer.add(bytes.subarray(at, at + size));
  }
  expect(answer.text).toBe(text);
  return isOver;
}

test("an answer ends where its headers say, also if the server keeps the connection, and in whatever pieces it comes", () => {
  const whole = [
    "content-length: 3\r\n\r\nhey",
    "Content-Length: 2\r\n\r\n\u00e9",
    "Transfer-Encoding: chunked\r\n\r\n3\r\nhey\r\n0\r\n\r\n",
    "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "content-length: 0\r\n\r\n",
  ];
  for (const size of [1, 2, 3, 7, 1000]) {
    for (const rest of whole) {
      const text = `HTTP/1.1 200 OK\r\n${rest}`;
      expect(isWhole(text, size), text).toBe(true);
      expect(isWhole(text.slice(0, -1).replace("\u00e9", "e"), size), text).toBe(false);
    }
    expect(isWhole("HTTP/1.1 204 No Content\r\n\r\n", size)).toBe(true);
    for (const text of ["", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\n\r\nuntil the end", "no HTTP\r\ncontent-length: 0\r\n\r\n"])
      expect(isWhole(text, size)).toBe(false);
  }
});

test("the head of an answer in small pieces is parsed once, and reading ends at a limit", () => {
  const parsed = vi.spyOn(RegExp.prototype, "exec");
  const answer = new AnswerReader();
  let size = 0;
  const add = (text: string) => {
    size += text.length;
    return answer.add(Buffer.from(text));
  };
  expect(add("HTTP/1.1 200 OK\r\ncontent-length: 999999999\r\n\r\n")).toBe(false);
  const after = parsed.mock.calls.length;
  while (!add("x")) expect(size).toBeLessThan(65_536);
  expect(size).toBe(65_536);
  expect(parsed.mock.calls.length).toBe(after);
  add("more");
  expect(answer.text).toHaveLength(65_536);
  parsed.mockRestore();
});

test("a server that sends without end, and no head, is not read for ever", async () => {
  const output = new PassThrough();
  const relay = { input: new PassThrough(), output, errors: new PassThrough(), ended: new Promise<null>(() => {}), end: async () => {} };
  const endless = Readable.from(
    (function* () {
      for (;;) yield Buffer.alloc(1000, "x");
    })(),
  );
  endless.pipe(output);
  const check = { port: 1, path: "/", address: "127.0.0.1", headers: {} } as HttpCheck;
  const found = await probeHttp(check, { start: async () => relay, timeoutMs: 60_000 });
  expect(found).toMatchObject({ isHealthy: false, output: expect.stringContaining("no answer of HTTP/1") });
  expect(output.destroyed).toBe(true);
  endless.destroy();
});
