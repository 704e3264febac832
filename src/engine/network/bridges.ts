/** Bridges of the host. The plugin makes one for the first task of a network and never removes it, so the engine removes it after the last task. */
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

  /** Write an attachment: none of its bridges is being removed then, and none is afterwards. */
  async reserve(write: () => void): Promise<void> {
    while (this.#removing !== undefined) await this.#removing.catch(() => {});
    write();
  }

  /** After an attachment is gone: those of its bridges that no other one has. @throws NetworkError */
  async removeUnused({ steps }: Pick<Attachment, "steps">): Promise<void> {
    if (bridgesOf({ steps }).length === 0) return;
    const present = await this.#present();
    while (this.#removing !== undefined) await this.#removing.catch(() => {});
    const unused = this.unused(bridgesOf({ steps })).filter((name) => present.includes(name));
    if (unused.length === 0) return;
    this.#removing = Promise.all(unused.map((name) => this.#remove(name)));
    try {
      await this.#removing;
    } finally {
      this.#removing = undefined;
    }
  }

  /** Those that no attachment has. */
  unused(bridges: readonly string[]): string[] {
    const used = new Set(this.#attachments.all().flatMap(bridgesOf));
    return bridges.filter((name) => !used.has(name));
  }

  async #remove(name: string): Promise<void> {
    await output("ip", ["link", "delete", name], this.#timeoutMs).catch(async (error) => {
      if ((await this.#present()).includes(name)) throw error;
    });
  }

  /** "3: rt-0123456789: <BROADCAST,...". sysfs shows the namespace that it was mounted in, which need not be this one. */
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
