/** The gRPC health check (grpc/grpc, "GRPC Health Checking Protocol"): one call of grpc.health.v1.Health/Check over HTTP/2 without TLS. */
import { type ClientHttp2Session, connect } from "node:http2";
import type { Duplex } from "node:stream";
import { cut } from "../../shared/text/index.ts";
import type { GrpcCheck } from "../spec/index.ts";
import { type Checked, overConnection, type Probe } from "./connection.ts";

/** Healthy: the server answered SERVING in time. @throws the errors of `start` */
export function probeGrpc(check: GrpcCheck, probe: Probe): Promise<Checked> {
  const { port, address, service } = check;
  const authority = `${address.includes(":") ? `[${address}]` : address}:${port}`;
  return overConnection(check, probe, async (connection) => readReply(await call(connection, authority, service)));
}

/** In bytes. A valid reply has only a few. */
const LARGEST_REPLY = 65_536;

function call(connection: Duplex, authority: string, service: string): Promise<GrpcReply> {
  const session = connect(`http://${authority}`, { createConnection: () => connection });
  return new Promise<GrpcReply>((resolve, reject) => {
    session.once("error", reject);
    session.once("close", () => reject(new Error("the connection was closed without an answer")));
    const request = session.request({
      ":method": "POST",
      ":path": "/grpc.health.v1.Health/Check",
      "content-type": "application/grpc",
      te: "trailers",
      "user-agent": "runtd",
    });
    let headers: Readonly<Record<string, unknown>> = {};
    const chunks: Buffer[] = [];
    let size = 0;
    const take = (more: Readonly<Record<string, unknown>>) => {
      headers = { ...headers, ...more };
    };
    request.on("response", take);
    request.on("trailers", take);
    request.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size <= LARGEST_REPLY) chunks.push(chunk);
      else request.close();
    });
    request.once("error", reject);
    request.once("close", () => {
      const text = (name: string) => (typeof headers[name] === "string" ? headers[name] : undefined);
      const httpStatus = typeof headers[":status"] === "number" ? headers[":status"] : undefined;
      resolve({ httpStatus, grpcStatus: text("grpc-status"), grpcMessage: text("grpc-message"), body: Buffer.concat(chunks) });
    });
    request.end(requestBytes(service));
  }).finally(() => endSession(session));
}

function endSession(session: ClientHttp2Session): void {
  session.on("error", () => {});
  session.destroy();
}

/** Encodes and decodes messages of grpc.health.v1. Pure. Sources: "gRPC over HTTP2" (length-prefixed messages), Protocol Buffers, "Encoding". */
interface GrpcReply {
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
  if (grpcStatus !== "0") return bad(`gRPC status ${grpcStatus ?? "missing"}${grpcMessage === undefined ? "" : `: ${cut(grpcMessage)}`}`);
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
