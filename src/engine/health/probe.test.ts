import { expect, test } from "vitest";
import { readAnswer, requestText } from "./probe.ts";

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
