import { describe, expect, it } from "vitest";
import { type Frame, FrameDecoder, type FrameName, HostSession } from "../channel/index.ts";
import { type Connection, Peer } from "./peer.ts";
import type { Port } from "./port.ts";

const bytes = (text: string): Uint8Array => Uint8Array.from(text, (character) => character.charCodeAt(0));
const textOf = (ascii: Uint8Array): string => String.fromCharCode(...ascii);

/** What a process hears. */
function process() {
  const decoder = new FrameDecoder("guest");
  const heard: string[] = [];
  let ended = false;
  const connection: Connection = {
    tell(frame) {
      for (const { name, payload } of decoder.push(frame) as Frame[]) {
        heard.push(name === "exit" ? `exit ${payload[0]}` : [name, textOf(payload)].join(" ").trim());
      }
    },
    end() {
      ended = true;
    },
  };
  return { connection, heard, hasEnded: () => ended };
}

function keptPeer(awaited = false) {
  const session = new HostSession(textOf, true);
  const port = { session, send: (_: FrameName) => {}, release: () => {}, forgive: () => {} } as unknown as Port;
  const begun = process();
  const peer = new Peer(port, begun.connection, awaited);
  peer.wait();
  return {
    peer,
    begun,
    adopt: () => {
      const next = process();
      peer.goOn(next.connection);
      return next;
    },
  };
}

describe("a stream that another process goes on with", () => {
  const { stream } = keptPeer().peer;
  const output = { what: "output", stream, channel: "stderr", bytes: bytes("words") } as const;
  const started = { what: "started", stream } as const;
  const ended = { what: "ended", stream, status: 1 } as const;

  it("has what the program printed before the guest has said that it runs", () => {
    const { peer, begun, adopt } = keptPeer();
    for (const event of [output, started, ended] as const) peer.event(event);
    expect(begun.heard).toEqual(["started"]);
    const next = adopt();
    expect(next.heard).toEqual(["started", "stderr words", "exit 1"]);
    expect(next.hasEnded()).toBe(true);
  });

  it("has what comes later, at once", () => {
    const { peer, adopt } = keptPeer();
    peer.event(started);
    const next = adopt();
    peer.event(output);
    peer.event(ended);
    expect(next.heard).toEqual(["started", "stderr words", "exit 1"]);
  });

  it("is not begun: the process that has asked hears why", () => {
    const { peer, begun } = keptPeer();
    peer.event(output);
    peer.event({ what: "failed", stream, failure: { message: "m", status: 127, shown: true } });
    expect(begun.heard).toEqual([`failed ${JSON.stringify({ message: "m", status: 127, shown: true })}`]);
    expect(begun.hasEnded()).toBe(true);
  });

  it("is a container that ends before it is made: the process that has asked hears that", () => {
    const { peer, begun } = keptPeer(true);
    peer.event(ended);
    expect(begun.heard).toEqual(["exit 1"]);
  });
});
