import { expect, test } from "vitest";
import { ForwardReceiver, packed, type ReceiverManners } from "../../../test/support/engine/forward-receiver.ts";
import { fluentdEntry } from "./fluentd.ts";
import { FluentdSender } from "./fluentd-sender.ts";
import { unpack } from "./msgpack.ts";
import { parseRecord } from "./record.ts";

const TIME = "2026-11-09T16:05:06.123456789Z";
const entry = (text: string, fields?: Readonly<Record<string, string>>) =>
  fluentdEntry({
    record: parseRecord(Buffer.from(`${TIME} stdout F ${text}`)),
    names: { container_id: "i" },
    fields,
    precise: true,
  });

interface Scene {
  readonly receiver: ForwardReceiver;
  readonly sender: FluentdSender;
  readonly faults: string[];
  readonly end: AbortController;
}

async function scene(manners: ReceiverManners, { key, ack = true }: { key?: string; ack?: boolean } = {}): Promise<Scene> {
  const receiver = new ForwardReceiver(manners);
  const port = await receiver.listen({ port: 0, host: "127.0.0.1" });
  const faults: string[] = [];
  const end = new AbortController();
  const sharedKey = key === undefined ? undefined : async () => Buffer.from(key);
  const find = () => ({ host: "127.0.0.1", port });
  const sender = new FluentdSender({ find, tag: "t/app", ack, sharedKey, onFault: (message) => faults.push(message), answerMs: 2000 });
  return { receiver, sender, faults, end };
}

async function closed({ receiver, sender, end }: Scene): Promise<void> {
  end.abort(new Error("the test ends"));
  sender.close();
  await receiver.close();
}

test("a chunk has the entries of a batch, nanoseconds, further fields and an id that the receiver acknowledges before the next one", async () => {
  const one = await scene({});
  const many = Array.from({ length: 20 }, (_, at) => [`field-${at}`, "x".repeat(40)]);
  await one.sender.send([entry("a"), entry("b".repeat(70_000))], one.end.signal);
  await one.sender.send([entry("c", Object.fromEntries(many))], one.end.signal);
  await one.sender.send([], one.end.signal);
  expect(one.receiver.faults).toEqual([]);
  expect(one.receiver.lines()).toEqual(["a", "b".repeat(70_000), "c"]);
  expect(one.receiver.received[0]).toMatchObject({
    tag: "t/app",
    time: { seconds: Date.parse(`${TIME.slice(0, 19)}Z`) / 1000, nanoseconds: 123_456_789 },
    record: { container_id: "i", source: "stdout", log: "a" },
  });
  expect(Object.keys(one.receiver.received[2]!.record)).toHaveLength(23);
  expect(new Set(one.receiver.chunks).size).toBe(2);
  expect(one.receiver.connections).toBe(1);
  await closed(one);
});

test("without acknowledgements a chunk has no id", async () => {
  const one = await scene({}, { ack: false });
  await one.sender.send([entry("a")], one.end.signal);
  await expect.poll(() => one.receiver.lines()).toEqual(["a"]);
  expect(one.receiver.chunks).toEqual([]);
  await closed(one);
});

test("both sides prove the shared key, on each connection; one without it, or with another one, gets no line", async () => {
  let isFirst = true;
  const right = await scene(
    {
      key: "secret",
      answer: (chunk, socket) => {
        if (!isFirst)
          return void socket.write(
            Buffer.concat([Buffer.from([0x81, 0xa3]), Buffer.from("ack"), Buffer.from([0xd9, chunk.length]), Buffer.from(chunk)]),
          );
        isFirst = false;
        socket.destroy();
      },
    },
    { key: "secret" },
  );
  await right.sender.send([entry("a")], right.end.signal);
  expect([right.receiver.faults, right.faults, right.receiver.lines()]).toEqual([[], [], ["a", "a"]]);
  // The receiver can tell that it has this chunk already.
  expect(new Set(right.receiver.chunks).size).toBe(1);
  await closed(right);

  const wrong = [
    [{ key: "other" }, "it refuses the shared key: shared_key mismatch"],
    [{ key: "secret", provenKey: "guess" }, "it has another shared key"],
    [{ key: "secret", auth: "salt" }, "it asks for a user and a password, which is not supported"],
    [{ greet: (socket: { write(bytes: Buffer): unknown }) => void socket.write(Buffer.from([0x93])) }, "it has not answered within 2 s"],
  ] as const;
  for (const [manners, message] of wrong) {
    const one = await scene(manners as ReceiverManners, { key: "secret" });
    const sent = one.sender.send([entry("a")], one.end.signal);
    await expect.poll(() => one.faults[0], { timeout: 20_000 }).toBe(message);
    expect(one.receiver.lines()).toEqual([]);
    await closed(one);
    await sent;
  }
});

test("a receiver that never acknowledges, closes at any byte or sends garbage gets the chunk again, until one takes it", async () => {
  const garbage = [
    Buffer.from("HTTP/1.1 400 Bad Request\r\n\r\n"),
    Buffer.from([0xc1]),
    Buffer.alloc(5000, 0x91),
    Buffer.alloc(9000, 0xdf),
    Buffer.from([0xdf, 0xff, 0xff, 0xff, 0xff]),
    Buffer.from([0xdb, 0xff, 0xff, 0xff, 0xff]),
  ];
  const greet: ReceiverManners["greet"] = (socket, count) => {
    if (count >= garbage.length + 8) return false;
    if (count < garbage.length) socket.write(garbage[count]!);
    else if (count === garbage.length) socket.destroy();
    // It takes some bytes, and goes.
    else {
      let left = 3 ** (count - garbage.length);
      socket.on("data", (bytes) => {
        left -= bytes.length;
        if (left <= 0) socket.destroy();
      });
    }
    return true;
  };
  const one = await scene({ greet });
  await one.sender.send([entry("a"), entry("b".repeat(3000))], one.end.signal);
  expect([one.receiver.faults, one.receiver.lines()]).toEqual([[], ["a", "b".repeat(3000)]]);
  expect(one.faults).toContain("it sends no answer of the protocol: byte 0xc1 begins no value of an answer");
  expect(one.faults).toContain("it sends more than the protocol has");
  expect(one.faults).toContain("it has not answered within 2 s");
  await closed(one);
});

test("a receiver that acknowledges something else does not count as one that has the chunk", async () => {
  let left = 2;
  const one = await scene({ answer: (chunk, socket) => void socket.write(packed({ ack: left-- > 0 ? "another" : chunk })) });
  await one.sender.send([entry("a")], one.end.signal);
  expect([one.receiver.lines(), left]).toEqual([["a", "a", "a"], -1]);
  expect(one.faults).toContain("it acknowledges another chunk than the one that was sent");
  await closed(one);
});

test("a send ends when it is aborted, whatever the receiver does", async () => {
  const silent = await scene({ answer: () => {} });
  const sent = silent.sender.send([entry("a")], silent.end.signal);
  await expect.poll(() => silent.receiver.lines()).toEqual(["a"]);
  await closed(silent);
  await sent;
  const deaf = await scene({ greet: (socket) => socket.pause() !== undefined });
  const stuck = deaf.sender.send([Buffer.alloc(64 << 20)], deaf.end.signal);
  await expect.poll(() => deaf.receiver.connections).toBe(1);
  await closed(deaf);
  await stuck;
});

test("answers of any bytes are read in bounded time and depth", () => {
  expect(unpack(Buffer.from([0x81, 0xa3]))).toBeUndefined();
  expect(() => unpack(Buffer.alloc(100, 0x91))).toThrow("too deeply");
  expect(() => unpack(Buffer.from([0xd7, 0, 0]))).toThrow("begins no value");
  for (let seed = 1; seed < 3000; seed++) {
    const bytes = Buffer.from(Array.from({ length: seed % 64 }, (_, at) => (seed * (at + 7) * 2_654_435_761) % 251));
    try {
      const read = unpack(bytes);
      if (read !== undefined) expect(read.length).toBeLessThanOrEqual(bytes.length);
    } catch (error) {
      expect((error as Error).message).toMatch(/begins no value|too deeply/);
    }
  }
});
