import { expect, test } from "vitest";
import { isWhole, readAnswer, requestText } from "./probe.ts";

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

test("an answer ends where its headers say, also if the server keeps the connection", () => {
  const whole = [
    "content-length: 3\r\n\r\nhey",
    "Content-Length: 2\r\n\r\n\u00e9",
    "Transfer-Encoding: chunked\r\n\r\n3\r\nhey\r\n0\r\n\r\n",
    "content-length: 0\r\n\r\n",
  ];
  for (const rest of whole) {
    const text = `HTTP/1.1 200 OK\r\n${rest}`;
    expect(isWhole(text), text).toBe(true);
    if (!rest.endsWith(" 0\r\n\r\n")) expect(isWhole(text.slice(0, -1)), text).toBe(false);
  }
  expect(isWhole("HTTP/1.1 204 No Content\r\n\r\n")).toBe(true);
  for (const text of ["", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\n\r\nuntil the end", "no HTTP\r\ncontent-length: 0\r\n\r\n"])
    expect(isWhole(text)).toBe(false);
});
