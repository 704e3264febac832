import { describe, expect, it } from "vitest";
import { DATA_MOST, type Frame, type FrameName, ProtocolError, WINDOW } from "./frame.ts";
import { encodeCredit } from "./messages.ts";
import { HostSession, STREAMS_MOST } from "./session.ts";

/** Enough of UTF-8 for these texts. */
function decode(bytes: Uint8Array): string {
  if (bytes.some((byte) => byte > 0x7f)) throw new Error("not ASCII");
  return String.fromCharCode(...bytes);
}
const text = (value: unknown): Uint8Array =>
  Uint8Array.from(typeof value === "string" ? value : JSON.stringify(value), (character) => character.charCodeAt(0));
const frame = (name: FrameName, stream: number, payload: Uint8Array = new Uint8Array(0)): Frame => ({ name, stream, payload });
const HELLO = frame("hello", 0, text({ version: "1", commit: "abc" }));

function greeted(): { readonly session: HostSession; readonly stream: number } {
  const session = new HostSession(decode);
  session.receive(HELLO);
  return { session, stream: session.open()! };
}

describe("the host's side of the channel", () => {
  it("takes a stream from its start to its end", () => {
    const { session, stream } = greeted();
    expect(session.receive(frame("started", stream))).toEqual({ what: "started", stream });
    expect(session.receive(frame("stdout", stream, text("hello")))).toMatchObject({ what: "output", channel: "stdout" });
    expect(session.receive(frame("exit", stream, new Uint8Array([3])))).toEqual({ what: "ended", stream, status: 3 });
    expect(session.isOpen(stream)).toBe(false);
  });

  it("takes a container from its making to its start", () => {
    const { session } = greeted();
    const stream = session.open(true)!;
    expect(session.receive(frame("created", stream))).toEqual({ what: "created", stream });
    expect(session.receive(frame("started", stream))).toEqual({ what: "started", stream });
  });

  it("does not take a start before the making, nor a making twice", () => {
    const { session } = greeted();
    const stream = session.open(true)!;
    expect(() => session.receive(frame("started", stream))).toThrow(ProtocolError);
    session.receive(frame("created", stream));
    expect(() => session.receive(frame("created", stream))).toThrow(ProtocolError);
  });

  it("takes the word that a process was killed for lack of memory, as often as it comes", () => {
    const { session, stream } = greeted();
    session.receive(frame("started", stream));
    for (let count = 0; count < 2; count++) expect(session.receive(frame("oom", stream))).toEqual({ what: "oom", stream });
  });

  it("goes on where another process has taken the hello", () => {
    const session = new HostSession(decode, true);
    const stream = session.open()!;
    expect(session.receive(frame("started", stream))).toEqual({ what: "started", stream });
    expect(() => session.receive(HELLO)).toThrow(ProtocolError);
  });

  it("takes output before the start, of a program that cannot be made", () => {
    const { session, stream } = greeted();
    session.receive(frame("stderr", stream, text("no")));
    const failure = { message: "no such file", status: 127, shown: true };
    expect(session.receive(frame("failed", stream, text(failure)))).toEqual({ what: "failed", stream, failure });
  });

  it.each<[string, (session: HostSession, stream: number) => Frame[]]>([
    ["a second hello", () => [HELLO]],
    ["a stream that nobody has opened", (_, stream) => [frame("started", stream + 1)]],
    [
      "a stream that has ended",
      (_, stream) => [frame("started", stream), frame("exit", stream, new Uint8Array(1)), frame("stdout", stream, text("x"))],
    ],
    ["the making of what is no container", (_, stream) => [frame("created", stream)]],
    ["a second start", (_, stream) => [frame("started", stream), frame("started", stream)]],
    ["a lack of memory before the start", (_, stream) => [frame("oom", stream)]],
    ["an end before the start", (_, stream) => [frame("exit", stream, new Uint8Array(1))]],
    [
      "a failure after the start",
      (_, stream) => [frame("started", stream), frame("failed", stream, text({ message: "", status: 1, shown: false }))],
    ],
    ["a failure that is not JSON", (_, stream) => [frame("failed", stream, text("{"))]],
    ["a failure that is no object", (_, stream) => [frame("failed", stream, text("null"))]],
    ["a failure with status 0", (_, stream) => [frame("failed", stream, text({ message: "", status: 0, shown: true }))]],
    ["a failure that is not UTF-8", (_, stream) => [frame("failed", stream, new Uint8Array([0x22, 0xff, 0x22]))]],
    ["credit for what was not sent", (_, stream) => [frame("credit", stream, encodeCredit({ channel: "stdin", bytes: 1 }))]],
    ["credit for its own output", (_, stream) => [frame("credit", stream, encodeCredit({ channel: "stdout", bytes: 1 }))]],
    ["credit for a channel that is none", (_, stream) => [frame("credit", stream, new Uint8Array([1, 0, 0, 0, 9]))]],
    [
      "more output than there is credit for",
      (_, stream) => Array.from({ length: WINDOW / DATA_MOST + 1 }, () => frame("stdout", stream, new Uint8Array(DATA_MOST))),
    ],
    ["a frame of the host's", (_, stream) => [frame("stdin", stream, text("x"))]],
  ])("does not take %s", (_, frames) => {
    const { session, stream } = greeted();
    expect(() => frames(session, stream).map((each) => session.receive(each))).toThrow(ProtocolError);
  });

  it("takes nothing before the hello", () => {
    const session = new HostSession(decode);
    const stream = session.open()!;
    expect(() => session.receive(frame("started", stream))).toThrow(ProtocolError);
    expect(() => session.receive(frame("hello", 1, text({ version: "1", commit: "" })))).toThrow(ProtocolError);
    expect(() => session.receive(frame("hello", 0, text({ version: 1 })))).toThrow(ProtocolError);
  });

  it("gives output on again once it has gone on", () => {
    const { session, stream } = greeted();
    const full = frame("stdout", stream, new Uint8Array(DATA_MOST));
    for (let round = 0; round < 100; round++) {
      session.receive(full);
      session.release(stream, "stdout", DATA_MOST);
    }
    expect(session.held(stream, "stdout")).toBe(0);
    expect(() => session.release(stream, "stdout", 1)).toThrow(ProtocolError);
  });

  it("lets no more go to stdin than the guest has room for", () => {
    const { session, stream } = greeted();
    session.spendStdin(stream, WINDOW);
    expect(session.stdinLeft(stream)).toBe(0);
    session.receive(frame("credit", stream, encodeCredit({ channel: "stdin", bytes: 10 })));
    expect(session.stdinLeft(stream)).toBe(10);
    session.closeStdin(stream);
    expect(session.stdinLeft(stream)).toBe(0);
  });

  it("has a bound on streams", () => {
    const session = new HostSession(decode);
    for (let count = 0; count < STREAMS_MOST; count++) expect(session.open()).toBeDefined();
    expect(session.open()).toBeUndefined();
  });
});
