/**
 * Reads the credentials of a connection's peer, for the journal. The runt executable reads
 * them (SO_PEERCRED), because Node cannot. They are read once for each connection.
 */
import { spawn } from "node:child_process";
import type { Socket } from "node:net";
import type { Caller } from "../engine/index.ts";
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

  #ask(socket: Socket): Promise<Caller | undefined> {
    // spawn duplicates the descriptor before it returns, so that the number still belongs to this connection.
    const fd = (socket as Socket & { readonly _handle?: { readonly fd: number } | null })._handle?.fd ?? -1;
    if (fd < 0) return Promise.resolve(undefined);
    return new Promise((resolve, reject) => {
      const child = spawn(this.#runtime, ["service", "peer"], { stdio: [fd, "pipe", "pipe"], timeout: TIMEOUT_MS, killSignal: "SIGKILL" });
      let [output, errors] = ["", ""];
      child.stdout!.on("data", (chunk) => {
        output += chunk;
      });
      child.stderr!.on("data", (chunk) => {
        errors += chunk;
      });
      child.once("error", reject);
      child.once("close", (status) => {
        if (status !== 0) return reject(new Error(`runt service peer: ${errors.trim() || `exit status ${status}`}`));
        const { uid, pid } = JSON.parse(output) as Caller;
        resolve({ uid, pid });
      });
    });
  }
}
