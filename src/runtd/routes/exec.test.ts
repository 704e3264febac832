/** What becomes of a program, and of the place of its client, when the client goes. Real programs are in test/engine/exec.test.ts. */
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { PassThrough } from "node:stream";
import { expect, onTestFinished, test } from "vitest";
import { type ExecHandle, ExecutorError } from "../../engine/index.ts";
import { FRAME, FrameReader, frameOf } from "../../shared/frames/index.ts";
import { FrameStream } from "../streams/frame-stream.ts";
import { execOn } from "./exec.ts";

/** A client that has sent its first frame, and the daemon's side of its connection. */
async function connected(): Promise<{ readonly client: Socket; readonly stream: FrameStream }> {
  const server = createServer({ allowHalfOpen: true }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const accepted = once(server, "connection");
  const client = connect((server.address() as { port: number }).port, "127.0.0.1");
  onTestFinished(() => {
    client.destroy();
    server.close();
  });
  client.write(frameOf(FRAME.start, Buffer.from(JSON.stringify({ command: ["program"] }))));
  return { client, stream: new FrameStream((await accepted)[0]) };
}

/** One that has ended, and that has left a process with its output. */
function ended(kill: () => Promise<void>) {
  const stdout = new PassThrough();
  const calls: string[] = [];
  const handle = {
    ...{ id: "exec-1", stdin: undefined, stdout, stderr: undefined },
    wait: async () => ({ exitCode: 0, timedOut: false }),
    async signal() {
      throw new ExecutorError("wrong-state", "exec exec-1 has ended");
    },
    kill() {
      calls.push("kill");
      return kill();
    },
  };
  return { handle: handle as unknown as ExecHandle, stdout, calls };
}

test("when its client goes, what a program that has ended has left is killed, and the place of the client is free", async () => {
  const { client, stream } = await connected();
  const { handle, stdout, calls } = ended(async () => {});
  const done = execOn(stream, async () => handle, 10);
  await once(client, "data");
  client.destroy();
  await done;
  expect([calls, stdout.destroyed]).toEqual([["kill"], true]);
});

test("what cannot be killed does not keep the place of the client", async () => {
  const { client, stream } = await connected();
  const { handle, stdout } = ended(async () => {
    throw new ExecutorError("stuck", "exec exec-1: processes could not be killed");
  });
  const done = execOn(stream, async () => handle, 10);
  await once(client, "data");
  client.destroy();
  await done;
  expect(stdout.destroyed).toBe(true);
});

test("a client that reads to the end gets it, and nothing is killed", async () => {
  const { client, stream } = await connected();
  const { handle, stdout, calls } = ended(async () => {});
  stdout.end("printed");
  const reader = new FrameReader();
  const frames: (readonly [number, string])[] = [];
  client.on("data", (data) => {
    for (const { kind, payload } of reader.push(data)) frames.push([kind, Buffer.from(payload).toString()]);
  });
  const closed = once(client, "end");
  await execOn(stream, async () => handle, 10);
  await closed;
  expect(frames).toEqual([
    [FRAME.started, ""],
    [FRAME.stdout, "printed"],
    [FRAME.end, '{"exitCode":0}'],
  ]);
  expect(calls).toEqual([]);
});
