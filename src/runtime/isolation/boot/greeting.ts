/** The channel until the container is made: the guest says hello, is told what to make, and says that it has. */
import * as host from "../../host/index.ts";
import {
  encodeFrame,
  type Failure,
  FrameDecoder,
  type Hello,
  HostSession,
  type Opening,
  ProtocolError,
  type SessionEvent,
} from "../channel/index.ts";
import { Inlet, type Loop, Outlet } from "../flow/index.ts";
import type { Interface } from "../network/links.ts";
import type { MachineRequest } from "../request.ts";

const AT_ONCE = 65_536;

export interface GreetingOptions {
  /** What the machine has of the network. */
  readonly interfaces: readonly Interface[];
  /** The guest has come up: all its devices are there. */
  readonly greeted: () => void;
  /** Nothing more is read. */
  readonly made: () => void;
  readonly failed: (failure: Failure) => void;
  /** Does not return before the container is made. */
  readonly broken: (reason: string) => void;
}

export class Greeting {
  readonly #session = new HostSession((bytes) => host.utf8Decode(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.length));
  readonly #stream: number;
  readonly #request: MachineRequest;
  readonly #options: GreetingOptions;
  readonly #outlet: Outlet;
  readonly #inlet: Inlet;

  constructor(loop: Loop, channel: number, request: MachineRequest, options: GreetingOptions) {
    this.#request = request;
    this.#options = options;
    this.#stream = this.#session.open(true)!;
    const decoder = new FrameDecoder("guest");
    // What the hypervisor's end says is more.
    const closed = (): void => {};
    this.#outlet = new Outlet(loop, channel, { atOnce: AT_ONCE, broken: closed });
    this.#inlet = new Inlet(loop, channel, {
      // Never more than one frame: what comes after the last is for the monitor.
      room: () => decoder.missing,
      data: (bytes) => {
        for (const frame of decoder.push(bytes)) this.#event(this.#session.receive(frame));
      },
      end: closed,
    });
  }

  get greeted(): boolean {
    return this.#session.greeted;
  }

  #event(event: SessionEvent): void {
    if (event.what === "hello") this.#greet(event.hello);
    else if (event.what === "failed") this.#options.failed(event.failure);
    else if (event.what === "created") {
      this.#inlet.stop();
      this.#options.made();
    } else throw new ProtocolError(`what is for a container that runs (${event.what})`);
  }

  #greet({ version, commit }: Hello): void {
    const { id, config, terminal, modules, disks } = this.#request;
    if (version !== host.build.version || commit !== host.build.commit) {
      const image = `the guest image is of runt ${version} (${commit}), this is ${host.build.version} (${host.build.commit})`;
      this.#options.broken(`${image}: make it anew`);
    }
    const { interfaces, greeted } = this.#options;
    greeted();
    const opening: Opening = { what: "container", id, config, interfaces, modules, disks, terminal };
    this.#outlet.push(encodeFrame("open", this.#stream, new Uint8Array(host.utf8Encode(JSON.stringify(opening)))));
  }
}
