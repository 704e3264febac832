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

/** The descriptors stay open. */
export function handOver(connection: number, parts: Handover): void {
  // A stream socket never gives the bytes of two messages at once that have descriptors.
  for (const part of PARTS) host.sendDatagram(connection, ".", parts[part]);
}

/** `connection` says why the machine has ended, and ends then. */
export function takeOver(): Handover & { readonly connection: number } {
  const connection = host.connect(JAIL.boot);
  const take = (): number => {
    const packet = host.receivePacket(connection);
    const fd = packet?.fds[0];
    // Instead of the first descriptor there may be words.
    if (fd === undefined) throw new Error(packet?.data.byteLength ? host.utf8Decode(packet.data) : "the machine has ended");
    return fd;
  };
  return { channel: take(), complaints: take(), clients: take(), connection };
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
