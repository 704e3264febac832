/** What the process that has booted a machine hands to the monitor when the container starts: the channel, and its word from then on. */
import * as host from "../../host/index.ts";
import { Inlet, type Loop } from "../flow/index.ts";
import { JAIL } from "../places.ts";

export interface Handover {
  /** This side's end of the channel to the guest. Every frame that was read from it was read whole. */
  readonly channel: number;
  /** What the hypervisor and the file server complain of. */
  readonly complaints: number;
  /** Listens for the processes that join. */
  readonly clients: number;
  /** What the guest prints on its console. */
  readonly console: number;
}

/** After that it says which signals it was sent, and last why the machine has ended. */
const SIGNAL = "\0";
export const tellSignal = (number: number): string => SIGNAL + String.fromCharCode(number);

/** The signals, and the text that is no signal. */
export function heard(text: string): { readonly signals: readonly number[]; readonly reason: string } {
  const signals: number[] = [];
  let reason = text;
  for (; reason.startsWith(SIGNAL); reason = reason.slice(2)) signals.push(reason.charCodeAt(1));
  return { signals, reason };
}

const PARTS = ["channel", "complaints", "clients"] as const;
/** Before what was printed, so that the message is never empty. */
const PRINTED = ".";

/** The descriptors stay open. `printed`: what was read of the console, less than fits into one message. */
export function handOver(connection: number, parts: Handover, printed: string): void {
  // A stream socket never gives the bytes of two messages at once that have descriptors.
  for (const part of PARTS) host.sendDatagram(connection, ".", parts[part]);
  host.sendDatagram(connection, PRINTED + printed, parts.console);
}

/** `connection` says why the machine has ended, and ends then. */
export function takeOver(): Handover & { readonly connection: number; readonly printed: string } {
  const connection = host.connect(JAIL.boot);
  const take = (): { readonly fd: number; readonly text: string } => {
    const packet = host.receivePacket(connection);
    const fd = packet?.fds[0];
    const text = packet?.data.byteLength ? host.utf8Decode(packet.data) : "";
    // Instead of the first descriptor there may be words.
    if (fd === undefined) throw new Error(text || "the machine has ended");
    return { fd, text };
  };
  const [channel, complaints, clients] = [take().fd, take().fd, take().fd];
  const { fd, text } = take();
  return { channel, complaints, clients, console: fd, connection, printed: text.slice(PRINTED.length) };
}

/** So much of what they say is kept. */
const MOST = 2000;

/** What the hypervisor and the file server say on stderr: the end of it is told when they have ended. */
export class Complaints {
  readonly #inlet: Inlet;
  #text = "";

  constructor(loop: Loop, fd: number) {
    this.#inlet = new Inlet(loop, fd, {
      room: () => MOST,
      data: (bytes) => {
        this.#text = (this.#text + printable(bytes)).slice(-MOST);
      },
      end: () => {},
    });
  }

  /** Somebody else reads on. */
  stop(): void {
    this.#inlet.stop();
  }

  /** This reason, and what was said. */
  after(reason: string): string {
    const said = this.#text.trim();
    return said === "" ? reason : `${reason}: ${said}`;
  }
}

/** ASCII only: it goes to a terminal or a log, and may be what the guest has said. */
function printable(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : " ")).join("");
}
