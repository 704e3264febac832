/** Bridges on the host. The bridge plugin makes one for the first task of a network and never removes it, so that the engine removes it after the last task. */
import type { Attachment, Attachments } from "./attachments.ts";
import { output } from "./command.ts";

export class Bridges {
  readonly #attachments: Attachments;
  readonly #timeoutMs: number;
  readonly #onRemoved: (name: string) => Promise<void>;
  #removing: Promise<unknown> | undefined;
  /** Tasks whose attachments are being removed. Of two that leave at once the second one removes the bridge. */
  readonly #leaving = new Set<string>();

  /** @param onRemoved removes what else the bridge had */
  constructor(attachments: Attachments, timeoutMs: number, onRemoved: (name: string) => Promise<void>) {
    this.#attachments = attachments;
    this.#onRemoved = onRemoved;
    this.#timeoutMs = timeoutMs;
  }

  /** Calls `write`, which stores an attachment, while none of its bridges is being removed; afterwards the attachment prevents their removal. */
  async reserve(write: () => void): Promise<void> {
    while (this.#removing !== undefined) await this.#removing.catch(() => {});
    write();
  }

  /** Removes those bridges of an attachment that nobody else uses: others that leave do not count. @throws NetworkError */
  async leave({ containerId, steps }: Pick<Attachment, "containerId" | "steps">): Promise<void> {
    while (this.#removing !== undefined) await this.#removing.catch(() => {});
    this.#leaving.add(containerId);
    const unused = this.unused(bridgesOf({ steps }));
    if (unused.length === 0) return;
    this.#removing = Promise.all(unused.map((name) => this.#remove(name)));
    try {
      await this.#removing;
    } finally {
      this.#removing = undefined;
    }
  }

  /** The attachment of a task that has left is removed, or it stays, since something of it could not be removed. */
  left(containerId: string): void {
    this.#leaving.delete(containerId);
  }

  /** Those `bridges` that no attachment uses which stays. */
  unused(bridges: readonly string[]): string[] {
    const staying = this.#attachments.all().filter(({ containerId }) => !this.#leaving.has(containerId));
    const used = new Set(staying.flatMap(bridgesOf));
    return bridges.filter((name) => !used.has(name));
  }

  /** An interface of another kind with its name is somebody else's, and stays. */
  async #remove(name: string): Promise<void> {
    if (await isBridge(name, this.#timeoutMs))
      await output("ip", ["link", "delete", name], this.#timeoutMs).catch(async (error) => {
        if (await isBridge(name, this.#timeoutMs)) throw error;
      });
    await this.#onRemoved(name);
  }
}

/** Whether a bridge has this name. Parses lines such as "3: rt-0123456789: <BROADCAST,...". sysfs shows the network namespace in which it was mounted. */
export async function isBridge(name: string, timeoutMs: number): Promise<boolean> {
  const text = await output("ip", ["-o", "link", "show", "type", "bridge"], timeoutMs);
  return text.split("\n").some((line) => /^\d+: ([^:@]+)/.exec(line)?.[1] === name);
}

function bridgesOf({ steps }: Pick<Attachment, "steps">): string[] {
  return steps.flatMap(({ plugins }) =>
    plugins.flatMap(({ type, bridge }) => (type === "bridge" && typeof bridge === "string" ? [bridge] : [])),
  );
}
