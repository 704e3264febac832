/** Bridges on the host. The bridge plugin makes one for the first task of a network and never removes it, so that the engine removes it after the last task. */
import type { Attachment, Attachments } from "./attachments.ts";
import { output } from "./command.ts";

export class Bridges {
  readonly #attachments: Attachments;
  readonly #timeoutMs: number;
  #removing: Promise<unknown> | undefined;

  constructor(attachments: Attachments, timeoutMs: number) {
    this.#attachments = attachments;
    this.#timeoutMs = timeoutMs;
  }

  /** Calls `write`, which stores an attachment, while none of its bridges is being removed; afterwards the attachment prevents their removal. */
  async reserve(write: () => void): Promise<void> {
    while (this.#removing !== undefined) await this.#removing.catch(() => {});
    write();
  }

  /** Removes those bridges of a removed attachment that no other attachment uses. @throws NetworkError */
  async removeUnused({ steps }: Pick<Attachment, "steps">): Promise<void> {
    while (this.#removing !== undefined) await this.#removing.catch(() => {});
    const unused = this.unused(bridgesOf({ steps }));
    if (unused.length === 0) return;
    this.#removing = Promise.all(unused.map((name) => this.#remove(name)));
    try {
      await this.#removing;
    } finally {
      this.#removing = undefined;
    }
  }

  /** Those `bridges` that no attachment uses. */
  unused(bridges: readonly string[]): string[] {
    const used = new Set(this.#attachments.all().flatMap(bridgesOf));
    return bridges.filter((name) => !used.has(name));
  }

  async #remove(name: string): Promise<void> {
    await output("ip", ["link", "delete", name], this.#timeoutMs).catch(async (error) => {
      if ((await this.#present()).includes(name)) throw error;
    });
  }

  /** Parses lines such as "3: rt-0123456789: <BROADCAST,...". sysfs is not used, because it shows the network namespace in which it was mounted. */
  async #present(): Promise<string[]> {
    const text = await output("ip", ["-o", "link", "show", "type", "bridge"], this.#timeoutMs);
    return text.split("\n").flatMap((line) => /^\d+: ([^:@]+)/.exec(line)?.[1] ?? []);
  }
}

function bridgesOf({ steps }: Pick<Attachment, "steps">): string[] {
  return steps.flatMap(({ plugins }) =>
    plugins.flatMap(({ type, bridge }) => (type === "bridge" && typeof bridge === "string" ? [bridge] : [])),
  );
}
