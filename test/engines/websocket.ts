/**
 * The streaming side of exec and attach: a WebSocket (RFC 6455) with Kubernetes' subprotocol v4.channel.k8s.io, in which the first byte
 * of every message names its stream.
 */
import { randomBytes } from "node:crypto";
import { request } from "node:http";
import type { Socket } from "node:net";

const PROTOCOL = "v4.channel.k8s.io";
const STDIN = 0;
const STDOUT = 1;
const STDERR = 2;
/** The end: JSON with `status` and, for a program that failed, its exit code among the causes. */
const ERROR = 3;
const RESIZE = 4;

const FINAL = 0x80;
const MASKED = 0x80;
const BINARY = 2;
const CLOSE = 8;
const LENGTH_16 = 126;
const LENGTH_64 = 127;
const TIMEOUT_MS = 20_000;

export interface StreamEnd {
  readonly stdout: string;
  readonly stderr: string;
  /** The program's exit status; undefined when the server did not say (attach). */
  readonly exitCode: number | undefined;
}

export class Stream {
  readonly #socket: Socket;
  readonly #output = ["", "", "", ""];
  #received: Buffer;
  readonly #watchers = new Set<() => void>();
  readonly ended: Promise<StreamEnd>;

  private constructor(socket: Socket, head: Buffer) {
    this.#socket = socket;
    this.#received = head;
    this.ended = new Promise((done, failed) => {
      const timer = setTimeout(() => {
        failed(new Error(`the stream did not end in ${TIMEOUT_MS} ms; stdout ${JSON.stringify(this.stdout)}`));
        socket.destroy();
      }, TIMEOUT_MS);
      socket.on("data", (chunk: Buffer) => {
        this.#received = Buffer.concat([this.#received, chunk]);
        this.#readFrames();
      });
      socket.on("error", () => {});
      socket.on("close", () => {
        clearTimeout(timer);
        try {
          done({ stdout: this.stdout, stderr: this.#output[STDERR] ?? "", exitCode: exitCode(this.#output[ERROR] ?? "") });
        } catch (error) {
          failed(error);
        }
      });
    });
    // Whoever closes early does not ask for the end.
    this.ended.catch(() => {});
    this.#readFrames();
  }

  /** `url`: as Exec and Attach give it. */
  static open(url: string): Promise<Stream> {
    return new Promise((done, failed) => {
      const upgrade = request(url.replace(/^ws/, "http"), {
        headers: {
          Connection: "Upgrade",
          Upgrade: "websocket",
          "Sec-WebSocket-Version": "13",
          "Sec-WebSocket-Key": randomBytes(16).toString("base64"),
          "Sec-WebSocket-Protocol": PROTOCOL,
        },
      });
      upgrade.on("upgrade", (_response, socket, head) => done(new Stream(socket as Socket, head)));
      upgrade.on("response", (response) => failed(new Error(`stream: HTTP status ${response.statusCode}`)));
      upgrade.on("error", failed);
      upgrade.end();
    });
  }

  get stdout(): string {
    return this.#output[STDOUT] ?? "";
  }

  write(text: string): void {
    this.#send(STDIN, text);
  }

  resize(width: number, height: number): void {
    this.#send(RESIZE, JSON.stringify({ Width: width, Height: height }));
  }

  /** Until stdout matches. */
  async until(pattern: RegExp): Promise<void> {
    await Promise.race([
      this.ended.then(() => {
        if (!pattern.test(this.stdout)) throw new Error(`the stream ended without ${pattern}: ${JSON.stringify(this.stdout)}`);
      }),
      new Promise<void>((done) => {
        const look = () => {
          if (!pattern.test(this.stdout)) return;
          this.#watchers.delete(look);
          done();
        };
        this.#watchers.add(look);
        look();
      }),
    ]);
  }

  close(): void {
    this.#socket.destroy();
  }

  /** What a client sends is masked; with zeros it stays what it was. */
  #send(channel: number, text: string): void {
    const payload = Buffer.concat([Buffer.from([channel]), Buffer.from(text)]);
    if (payload.length >= LENGTH_16) throw new Error("stream: longer than this client sends");
    this.#socket.write(Buffer.concat([Buffer.from([FINAL | BINARY, MASKED | payload.length, 0, 0, 0, 0]), payload]));
  }

  #readFrames(): void {
    for (;;) {
      const frame = cutFrame(this.#received);
      if (frame === undefined) return;
      this.#received = frame.rest;
      const [channel = 0] = frame.payload;
      if (frame.opcode === CLOSE) this.#socket.end();
      else if (frame.payload.length > 0) this.#output[channel] = (this.#output[channel] ?? "") + frame.payload.subarray(1).toString();
      for (const look of [...this.#watchers]) look();
    }
  }
}

/** The first frame; undefined while it is not there as a whole. Servers do not mask. */
function cutFrame(bytes: Buffer): { opcode: number; payload: Buffer; rest: Buffer } | undefined {
  if (bytes.length < 2) return undefined;
  const short = bytes[1]! & 0x7f;
  const header = short === LENGTH_16 ? 4 : short === LENGTH_64 ? 10 : 2;
  if (bytes.length < header) return undefined;
  const length = short === LENGTH_16 ? bytes.readUInt16BE(2) : short === LENGTH_64 ? Number(bytes.readBigUInt64BE(2)) : short;
  if (bytes.length < header + length) return undefined;
  return { opcode: bytes[0]! & 0x0f, payload: bytes.subarray(header, header + length), rest: bytes.subarray(header + length) };
}

function exitCode(error: string): number | undefined {
  if (error === "") return undefined;
  const { status, message, details } = JSON.parse(error) as {
    status: string;
    message?: string;
    details?: { causes?: readonly { reason: string; message: string }[] };
  };
  if (status === "Success") return 0;
  const code = details?.causes?.find(({ reason }) => reason === "ExitCode")?.message;
  if (code === undefined) throw new Error(`stream: ${message ?? error}`);
  return Number(code);
}
