/** The channel to the guest: frames out, and what the guest's frames mean. */
import * as host from "../../host/index.ts";
import { encodeCredit, encodeFrame, FrameDecoder, type FrameName, HostSession, type SessionEvent } from "../channel/index.ts";
import { Inlet, type Loop, Outlet } from "../flow/index.ts";

const READ_AT_ONCE = 65_536;

export interface PortOptions {
  readonly event: (event: SessionEvent) => void;
  /** The guest, or the hypervisor, has closed it. */
  readonly closed: () => void;
}

export class Port {
  readonly session = new HostSession((bytes) => host.utf8Decode(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.length), true);
  readonly #decoder = new FrameDecoder("guest");
  readonly #outlet: Outlet;

  constructor(loop: Loop, fd: number, { event, closed }: PortOptions) {
    // Nothing of it blocks: it is a socket of this process's own.
    this.#outlet = new Outlet(loop, fd, { atOnce: READ_AT_ONCE, broken: closed });
    new Inlet(loop, fd, {
      room: () => READ_AT_ONCE,
      data: (bytes) => {
        for (const frame of this.#decoder.push(bytes)) event(this.session.receive(frame));
      },
      end: closed,
    });
  }

  send(name: FrameName, stream: number, payload?: Uint8Array): void {
    this.#outlet.push(encodeFrame(name, stream, payload));
  }

  /** Output of a stream has gone on. */
  release(stream: number, channel: "stdout" | "stderr", bytes: number): void {
    if (!this.session.isOpen(stream)) return;
    this.session.release(stream, channel, bytes);
    this.send("credit", stream, encodeCredit({ channel, bytes }));
  }

  /** Nobody takes the output of a stream any more: what has come is dropped, so that its end can come. */
  forgive(stream: number): void {
    for (const channel of ["stdout", "stderr"] as const) {
      const held = this.session.held(stream, channel);
      if (held > 0) this.release(stream, channel, held);
    }
  }
}
