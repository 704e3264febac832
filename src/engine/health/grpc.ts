/** The health check of gRPC (grpc/grpc, "GRPC Health Checking Protocol"): one call of grpc.health.v1.Health/Check over HTTP/2 without TLS. */
import { type ChildProcess, spawn } from "node:child_process";
import { type ClientHttp2Session, connect } from "node:http2";
import { Duplex } from "node:stream";
import type { GrpcCheck } from "../spec/index.ts";
import { type GrpcReply, readReply, requestBytes } from "./grpc-message.ts";
import type { Checked, Probe } from "./probe.ts";

/** Healthy: SERVING was answered in time. @throws the error of spawn(2) */
export async function probeGrpc({ port, address, service }: GrpcCheck, { program, namespace, timeoutMs }: Probe): Promise<Checked> {
  const child = spawn(program, ["connect", namespace, address, String(port)], { stdio: "pipe", cwd: "/" });
  let told = "";
  child.stderr.on("data", (chunk: Buffer) => {
    told = (told + chunk.toString()).slice(0, LONGEST_TEXT);
  });
  try {
    await new Promise<void>((resolve, reject) => child.once("spawn", resolve).once("error", reject));
    const answer = await within(timeoutMs, call(child, `${address.includes(":") ? `[${address}]` : address}:${port}`, service));
    return readReply(answer);
  } catch (error) {
    const message = error instanceof TimeOver ? `no answer within ${timeoutMs} ms` : (error as Error).message;
    if (child.pid === undefined) throw error;
    return { isHealthy: false, output: told.trim() || message };
  } finally {
    child.kill("SIGKILL");
  }
}

const LONGEST_TEXT = 4096;
/** A reply is a few bytes. */
const LARGEST_REPLY = 65_536;

function call({ stdin, stdout }: ChildProcess, authority: string, service: string): Promise<GrpcReply> {
  const connection = Duplex.from({ readable: stdout!, writable: stdin! });
  connection.on("error", () => {});
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

class TimeOver extends Error {}

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new TimeOver()), ms);
  });
  try {
    return await Promise.race([work, over]);
  } finally {
    clearTimeout(timer);
    work.catch(() => {});
  }
}
