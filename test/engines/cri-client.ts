/** A typed client of the Container Runtime Interface: what kubelet is to containerd. */
import { setTimeout as sleep } from "node:timers/promises";
import { METHODS } from "./cri-messages.ts";
import { Channel } from "./grpc.ts";
import { decode, encode, type Received, type Sent } from "./protobuf.ts";

const STOP_ATTEMPTS = 3;
const RETRY_MS = 500;

type Methods = typeof METHODS;
export type Method = keyof Methods;
export type Request<M extends Method> = Sent<Methods[M][0]>;
export type Response<M extends Method> = Received<Methods[M][1]>;

export class CriClient {
  readonly #channel: Channel;

  constructor(socket: string) {
    this.#channel = new Channel(socket);
  }

  async call<M extends Method>(method: M, request: Request<M>): Promise<Response<M>> {
    const [sent, received] = METHODS[method];
    return decode(received, await this.#channel.unary(`/runtime.v1.RuntimeService/${method}`, encode(sent, request))) as Response<M>;
  }

  /**
   * As kubelet does, again after an error: a shim of containerd 2.1 now and then hangs up on one of two calls for containers that end at
   * the same time, with any runtime.
   */
  async stopSandbox(sandboxId: string): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        await this.call("StopPodSandbox", { sandboxId });
        return;
      } catch (error) {
        if (attempt === STOP_ATTEMPTS || !/ttrpc: closed/.test(String(error))) throw error;
        await sleep(RETRY_MS);
      }
    }
  }

  close(): void {
    this.#channel.close();
  }
}
