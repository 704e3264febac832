/** Encodes and decodes messages of grpc.health.v1. Pure. Sources: "gRPC over HTTP2" (length-prefixed messages), Protocol Buffers, "Encoding". */
import type { Checked } from "./connection.ts";

export interface GrpcReply {
  readonly httpStatus: number | undefined;
  /** From the trailers, or from the headers if the response has no trailers. */
  readonly grpcStatus: string | undefined;
  readonly grpcMessage: string | undefined;
  readonly body: Buffer;
}

/** HealthCheckRequest { string service = 1; } */
export function requestBytes(service: string): Buffer {
  const name = Buffer.from(service);
  return prefixed(name.length === 0 ? name : Buffer.concat([Buffer.from([0x0a]), varint(name.length), name]));
}

/** Prefixes a message with one byte for "not compressed" and four bytes for its length. */
function prefixed(message: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return Buffer.from([...bytes, rest]);
    bytes.push((rest % 128) | 0x80);
  }
}

const STATUS = ["UNKNOWN", "SERVING", "NOT_SERVING", "SERVICE_UNKNOWN"];

export function readReply({ httpStatus, grpcStatus, grpcMessage, body }: GrpcReply): Checked {
  const bad = (output: string): Checked => ({ isHealthy: false, output });
  if (httpStatus === undefined) return bad("no answer of HTTP/2");
  if (httpStatus !== 200) return bad(`HTTP/2 status ${httpStatus}`);
  if (grpcStatus !== "0") return bad(`gRPC status ${grpcStatus ?? "missing"}${grpcMessage === undefined ? "" : `: ${grpcMessage}`}`);
  const status = statusIn(body);
  if (status === undefined) return bad("the answer is no HealthCheckResponse");
  return { isHealthy: status === 1, output: STATUS[status] ?? `status ${status}` };
}

/** HealthCheckResponse { ServingStatus status = 1; }. A missing field means 0. undefined: the message has another form. */
function statusIn(body: Buffer): number | undefined {
  if (body.length < 5 || body[0] !== 0 || body.readUInt32BE(1) !== body.length - 5) return undefined;
  const message = body.subarray(5);
  if (message.length === 0) return 0;
  return message.length === 2 && message[0] === 0x08 && message[1]! < 0x80 ? message[1] : undefined;
}
