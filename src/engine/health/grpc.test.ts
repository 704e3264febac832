import { expect, test } from "vitest";
import { readReply, requestBytes } from "./grpc.ts";

/** Protocol Buffers, "Encoding": field 1 with a length is 0x0a. "gRPC over HTTP2": one byte for compression, four for the length. */
test("a request names a service, or nothing", () => {
  expect([...requestBytes("")]).toEqual([0, 0, 0, 0, 0]);
  expect([...requestBytes("ab")]).toEqual([0, 0, 0, 0, 4, 0x0a, 2, 0x61, 0x62]);
  expect([...requestBytes("x".repeat(300)).subarray(0, 8)]).toEqual([0, 0, 0, 1, 47, 0x0a, 0xac, 0x02]);
});

const reply = (bytes: readonly number[], more: object = {}) =>
  readReply({ httpStatus: 200, grpcStatus: "0", grpcMessage: undefined, body: Buffer.from(bytes), ...more });

test("only SERVING is healthy, and what else was answered is told", () => {
  expect(reply([0, 0, 0, 0, 2, 8, 1])).toEqual({ isHealthy: true, output: "SERVING" });
  expect(reply([0, 0, 0, 0, 2, 8, 2])).toEqual({ isHealthy: false, output: "NOT_SERVING" });
  expect(reply([0, 0, 0, 0, 0])).toEqual({ isHealthy: false, output: "UNKNOWN" });
  expect(reply([], { grpcStatus: "5", grpcMessage: "no such service" }).output).toBe("gRPC status 5: no such service");
  expect(reply([], { grpcStatus: undefined }).output).toBe("gRPC status missing");
  expect(reply([], { httpStatus: 404 }).output).toBe("HTTP/2 status 404");
  expect(reply([], { httpStatus: undefined }).output).toBe("no answer of HTTP/2");
  for (const bytes of [[], [1, 0, 0, 0, 2, 8, 1], [0, 0, 0, 0, 3, 8, 1], [0, 0, 0, 0, 2, 8, 0x81]])
    expect(reply(bytes)).toEqual({ isHealthy: false, output: "the answer is no HealthCheckResponse" });
});
