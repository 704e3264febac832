/** The messages that the test's end of a D-Bus connection sends, as data. */
import { encodeMessage, type Header, MESSAGE_TYPE, type Message, readBody } from "../../src/runtime/cgroup/systemd/wire/message.ts";
import type { Value } from "../../src/runtime/cgroup/systemd/wire/types.ts";

export interface Received {
  readonly member: string;
  readonly values: readonly Value[];
  readonly message: Message;
}

/** How the peer answers a call: with a reply, a signal of systemd's manager, or raw bytes (none: the end of the stream). */
export type Outgoing =
  | { readonly reply: readonly Value[]; readonly signature?: string }
  | { readonly error: string; readonly text?: string }
  | { readonly signal: string; readonly signature: string; readonly values: readonly Value[]; readonly sender?: string }
  | { readonly bytes: Uint8Array };

const PATH = "/org/freedesktop/systemd1";
const INTERFACE = "org.freedesktop.systemd1.Manager";

export function received(message: Message): Received {
  return { member: message.member ?? "", values: readBody(message), message };
}

/** `origin`: header fields that the peer sets on everything. */
export function encodeOutgoing(outgoing: Outgoing, serial: number, request?: Message, origin: Partial<Header> = {}): Uint8Array {
  if ("bytes" in outgoing) return outgoing.bytes;
  if ("signal" in outgoing) {
    const { signal, signature, values, sender } = outgoing;
    const from = sender === undefined ? origin : { ...origin, sender };
    return encodeMessage(
      { type: MESSAGE_TYPE.signal, serial, ...from, path: PATH, interface: INTERFACE, member: signal, signature },
      values,
    );
  }
  const header = {
    serial,
    ...origin,
    ...(request ? { replySerial: request.serial } : {}),
    ...(request?.sender === undefined ? {} : { destination: request.sender }),
  };
  if ("error" in outgoing) {
    const { error, text = error } = outgoing;
    return encodeMessage({ ...header, type: MESSAGE_TYPE.error, errorName: error, signature: "s" }, [text]);
  }
  const { signature, reply } = outgoing;
  return encodeMessage({ ...header, type: MESSAGE_TYPE.reply, ...(signature === undefined ? {} : { signature }) }, reply);
}
