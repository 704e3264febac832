/** A client of a run in a pool that says what it wants, frame by frame. */
import { connect, type Socket } from "node:net";
import { FRAME, type Frame, type FrameKind, FrameReader, frameOf } from "../../src/shared/frames/index.ts";
import { until } from "./requests.ts";

export interface RunClient {
  readonly socket: Socket;
  /** What has come. */
  readonly frames: readonly Frame[];
  send(kind: FrameKind, payload?: string | Uint8Array): void;
  /** The content of the last frame. */
  last(): Promise<Record<string, unknown>>;
}

export function openedRun(path: string, pool: string): RunClient {
  const socket = connect(path);
  const frames: Frame[] = [];
  const reader = new FrameReader();
  let head: string | undefined = "";
  socket.on("error", () => {});
  socket.on("data", (chunk: Buffer) => {
    if (head === undefined) return void frames.push(...reader.push(chunk));
    head += chunk.toString("latin1");
    const end = head.indexOf("\r\n\r\n");
    if (end < 0 || !head.startsWith("HTTP/1.1 101")) return;
    const rest = Buffer.from(head.slice(end + 4), "latin1");
    head = undefined;
    frames.push(...reader.push(rest));
  });
  const lines = ["Host: x", "Connection: Upgrade", "Upgrade: runtd-stream/1", "Content-Length: 0"];
  socket.write(`POST /v1/pools/${pool}/run HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`);
  return {
    socket,
    frames,
    send: (kind, payload = "") => void socket.write(frameOf(kind, Buffer.from(payload as string))),
    async last() {
      await until(() => frames.some(({ kind }) => kind === FRAME.end || kind === FRAME.failed));
      return JSON.parse(Buffer.from(frames.at(-1)!.payload).toString()) as Record<string, unknown>;
    },
  };
}
