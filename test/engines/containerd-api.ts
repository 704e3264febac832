/** One call of containerd's task service: `ctr` has no `update`. gRPC over the socket, the two messages written by hand. */
import { connect, constants } from "node:http2";
import { connect as connectSocket } from "node:net";

const METHOD = "/containerd.services.tasks.v1.Tasks/Update";
const RESOURCES_TYPE = "types.containerd.io/opencontainers/runtime-spec/1/LinuxResources";
const LENGTH_DELIMITED = 2;
/** A gRPC message: one byte of flags, four of length. */
const FRAME_HEADER = 5;

export function updateTask(socket: string, namespace: string, container: string, resources: string): Promise<void> {
  const any = Buffer.concat([field(1, RESOURCES_TYPE), field(2, resources)]);
  const request = Buffer.concat([field(1, container), field(2, any)]);
  const frame = Buffer.alloc(FRAME_HEADER);
  frame.writeUInt32BE(request.length, 1);
  return new Promise((done, failed) => {
    const session = connect("http://localhost", { createConnection: () => connectSocket(socket) });
    session.on("error", failed);
    const stream = session.request({
      [constants.HTTP2_HEADER_METHOD]: "POST",
      [constants.HTTP2_HEADER_PATH]: METHOD,
      "content-type": "application/grpc",
      te: "trailers",
      "containerd-namespace": namespace,
    });
    let status = "no status";
    let message = "";
    const read = (headers: Record<string, unknown>) => {
      if (headers["grpc-status"] !== undefined) status = String(headers["grpc-status"]);
      if (headers["grpc-message"] !== undefined) message = decodeURIComponent(String(headers["grpc-message"]));
    };
    stream.on("response", read);
    stream.on("trailers", read);
    stream.on("error", failed);
    stream.on("close", () => {
      session.close();
      if (status === "0") done();
      else failed(new Error(`update: grpc status ${status}: ${message}`));
    });
    stream.resume();
    stream.end(Buffer.concat([frame, request]));
  });
}

function field(number: number, value: string | Buffer): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([varint((number << 3) | LENGTH_DELIMITED), varint(bytes.length), bytes]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  for (; value > 127; value = Math.floor(value / 128)) bytes.push((value % 128) | 128);
  return Buffer.from([...bytes, value]);
}
