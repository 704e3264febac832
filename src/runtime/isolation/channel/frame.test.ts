import { describe, expect, it } from "vitest";
import { DATA_MOST, encodeFrame, FRAMES, FrameDecoder, HEADER, ProtocolError } from "./frame.ts";

const bytes = (...values: number[]): Uint8Array => new Uint8Array(values);
const header = (length: number, kind: number, stream = 1): Uint8Array => {
  const head = new Uint8Array(HEADER);
  const view = new DataView(head.buffer);
  view.setUint32(0, length, true);
  view.setUint8(4, kind);
  view.setUint32(8, stream, true);
  return head;
};

describe("frames of the channel", () => {
  it("are what they were, in whatever pieces they arrive", () => {
    const sent = [
      encodeFrame("started", 1),
      encodeFrame("stdout", 0xffff_ffff, new Uint8Array(DATA_MOST).fill(7)),
      encodeFrame("exit", 2, bytes(137)),
    ];
    const all = new Uint8Array(sent.reduce((sum, each) => sum + each.length, 0));
    let at = 0;
    for (const each of sent) {
      all.set(each, at);
      at += each.length;
    }
    for (const size of [1, 11, 12, 13, 4096, all.length]) {
      const decoder = new FrameDecoder("guest");
      const frames = [];
      for (let from = 0; from < all.length; from += size) frames.push(...decoder.push(all.subarray(from, from + size)));
      expect(frames.map(({ name, stream, payload }) => [name, stream, payload.length])).toEqual([
        ["started", 1, 0],
        ["stdout", 0xffff_ffff, DATA_MOST],
        ["exit", 2, 1],
      ]);
      expect(frames[2]!.payload).toEqual(bytes(137));
      expect(decoder.atRest).toBe(true);
    }
  });

  it("can be read one by one", () => {
    const sent = [encodeFrame("stdout", 1, bytes(1, 2, 3)), encodeFrame("created", 1)];
    const all = bytes(...sent.flatMap((each) => [...each]));
    const decoder = new FrameDecoder("guest");
    const ends = [];
    for (let at = 0; at < all.length; ) {
      const next = at + decoder.missing;
      if (decoder.push(all.subarray(at, next)).length > 0) ends.push(next);
      at = next;
    }
    expect(ends).toEqual([HEADER + 3, 2 * HEADER + 3]);
  });

  it("keep nothing of the buffer that they came in", () => {
    const arrived = encodeFrame("stdout", 1, bytes(1, 2, 3));
    const [frame] = new FrameDecoder("guest").push(arrived);
    arrived.fill(0);
    expect(frame!.payload).toEqual(bytes(1, 2, 3));
  });

  it.each([
    ["an unknown kind", header(0, 99)],
    ["a kind of the other side", header(1, FRAMES.stdin.number)],
    ["more data than a frame carries", header(DATA_MOST + 1, FRAMES.stdout.number)],
    ["no data", header(0, FRAMES.stdout.number)],
    ["a length of four gigabytes", header(0xffff_ffff, FRAMES.stdout.number)],
    ["an exit of two bytes", header(2, FRAMES.exit.number)],
    ["an exit without a status", header(0, FRAMES.exit.number)],
  ])("with %s are refused before room is made for them", (_, head) => {
    expect(() => new FrameDecoder("guest").push(head)).toThrow(ProtocolError);
  });

  it.each([5, 6, 7])("with something at place %i of the header are refused", (place) => {
    const frame = encodeFrame("started", 1);
    frame[place] = 1;
    expect(() => new FrameDecoder("guest").push(frame)).toThrow(ProtocolError);
  });

  it("are not made with a payload that the other side would refuse", () => {
    expect(() => encodeFrame("stdout", 1, new Uint8Array(DATA_MOST + 1))).toThrow(RangeError);
    expect(() => encodeFrame("exit", 1)).toThrow(RangeError);
  });
});
