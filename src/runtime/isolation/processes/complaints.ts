/** What the hypervisor and the file server say on stderr: the end of it is told when they have ended. */
import { Inlet, type Loop } from "../flow/index.ts";

const MOST = 2000;

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
