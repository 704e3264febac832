/** Unary gRPC calls over a Unix socket: HTTP/2 of Node, one session for all calls. */
import { type ClientHttp2Session, connect, constants } from "node:http2";
import { connect as connectSocket } from "node:net";

/** A gRPC message: one byte of flags, four of length. */
const FRAME_HEADER = 5;
const TIMEOUT_MS = 60_000;

/** A call that was answered with an error. */
export class GrpcError extends Error {
  constructor(
    /** The number of the gRPC status, as text. */
    readonly status: string,
    message: string,
  ) {
    super(message);
  }
}

export class Channel {
  #session: ClientHttp2Session | undefined;
  readonly #socket: string;
  readonly #headers: Readonly<Record<string, string>>;

  /** `headers` go along with every call. */
  constructor(socket: string, headers: Readonly<Record<string, string>> = {}) {
    this.#socket = socket;
    this.#headers = headers;
  }

  /** `method`: "/package.Service/Method". */
  unary(method: string, request: Buffer): Promise<Buffer> {
    const frame = Buffer.alloc(FRAME_HEADER);
    frame.writeUInt32BE(request.length, 1);
    return new Promise((done, failed) => {
      const stream = this.#connect(failed).request({
        [constants.HTTP2_HEADER_METHOD]: "POST",
        [constants.HTTP2_HEADER_PATH]: method,
        "content-type": "application/grpc",
        te: "trailers",
        ...this.#headers,
      });
      stream.setTimeout(TIMEOUT_MS, () => stream.destroy(new Error(`${method}: no answer in ${TIMEOUT_MS} ms`)));
      const chunks: Buffer[] = [];
      let status = "no status";
      let message = "";
      const read = (headers: Record<string, unknown>) => {
        if (headers["grpc-status"] !== undefined) status = String(headers["grpc-status"]);
        if (headers["grpc-message"] !== undefined) message = decodeURIComponent(String(headers["grpc-message"]));
      };
      stream.on("response", read);
      stream.on("trailers", read);
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("error", failed);
      stream.on("close", () => {
        if (status === "0") done(Buffer.concat(chunks).subarray(FRAME_HEADER));
        else failed(new GrpcError(status, `${method}: grpc status ${status}: ${message}`));
      });
      stream.end(Buffer.concat([frame, request]));
    });
  }

  close(): void {
    this.#session?.close();
    this.#session = undefined;
  }

  /** Anew after the peer has gone. */
  #connect(failed: (error: Error) => void): ClientHttp2Session {
    if (this.#session !== undefined && !this.#session.closed && !this.#session.destroyed) return this.#session;
    const session = connect("http://localhost", { createConnection: () => connectSocket(this.#socket) });
    session.on("error", failed);
    session.on("goaway", () => session.close());
    this.#session = session;
    return session;
  }
}
