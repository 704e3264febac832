/** The gRPC health check (grpc/grpc, "GRPC Health Checking Protocol"): one call of grpc.health.v1.Health/Check over HTTP/2 without TLS. */
import { type ClientHttp2Session, connect } from "node:http2";
import type { Duplex } from "node:stream";
import type { GrpcCheck } from "../spec/index.ts";
import { type Checked, overConnection, type Probe } from "./connection.ts";
import { type GrpcReply, readReply, requestBytes } from "./grpc-message.ts";

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
