/**
 * Reads the credentials of a connection's peer, for the journal. The runt executable reads
 * them (SO_PEERCRED), because Node cannot. They are read once for each connection.
 */
import type { Socket } from "node:net";
import type { Caller } from "../engine/index.ts";
import { runProgram } from "../node/index.ts";
import { factsOf, log } from "./log.ts";

const TIMEOUT_MS = 10_000;

export class Peers {
  readonly #runtime: string;
  readonly #known = new WeakMap<Socket, Promise<Caller | undefined>>();

  /** @param runtime absolute path of the runt executable */
  constructor(runtime: string) {
    this.#runtime = runtime;
  }

  /** The credentials at the time of connect(2). undefined: the connection is closed, or reading them has failed, which is logged. */
  of(socket: Socket): Promise<Caller | undefined> {
    let caller = this.#known.get(socket);
    if (caller === undefined) {
      caller = this.#ask(socket).catch((error) => {
        log("error", "peer-unknown", factsOf(error));
        return undefined;
      });
      this.#known.set(socket, caller);
    }
    return caller;
  }

  async #ask(socket: Socket): Promise<Caller | undefined> {
    // The program has a descriptor of its own before the call returns, so that the number still belongs to this connection.
    const fd = (socket as Socket & { readonly _handle?: { readonly fd: number } | null })._handle?.fd ?? -1;
    if (fd < 0) return undefined;
    const { failure, stdout, stderr } = await runProgram(this.#runtime, ["service", "peer"], {
      ...{ timeoutMs: TIMEOUT_MS, stdio: [fd, "pipe", "pipe"] },
    });
    if (failure !== undefined) throw new Error(`runt service peer: ${stderr.trim() || failure}`);
    const { uid, pid } = JSON.parse(stdout.toString()) as Caller;
    return { uid, pid };
  }
}
