/** A file system in memory for what is written of containers with secrets in their environment. It is there as long as there are some. */
import { existsSync, mkdirSync, readdirSync, rmdirSync } from "node:fs";
import { mountMemory, unmountMemory } from "../volumes/index.ts";

/** Of all of them: configurations, records, and pipes. */
const MOST = 256 << 20;

export class LaunchMemory {
  readonly directory: string;
  /** Launches that go on. */
  #users = 0;
  /** One mounts or unmounts at a time. */
  #turn: Promise<unknown> = Promise.resolve();

  /** @param directory absolute; made when it is needed */
  constructor(directory: string) {
    this.directory = directory;
  }

  /** @throws Error: it cannot be mounted; what `launch` throws */
  async during<T>(launch: () => Promise<T>): Promise<T> {
    this.#users++;
    try {
      await this.#exclusively(() => this.#mount());
      return await launch();
    } finally {
      this.#users--;
      await this.leave();
    }
  }

  /** When nothing is there any more, it goes. */
  async leave(): Promise<void> {
    await this.#exclusively(async () => {
      if (this.#users > 0 || !existsSync(this.directory)) return;
      // No id begins like what is not of a container, or was left half made.
      if (readdirSync(this.directory).some((name) => !name.startsWith("@"))) return;
      await unmountMemory(this.directory);
      rmdirSync(this.directory);
    });
  }

  async #mount(): Promise<void> {
    mkdirSync(this.directory, { recursive: true, mode: 0o700 });
    await mountMemory(this.directory, MOST);
  }

  #exclusively<T>(action: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(action);
    this.#turn = result.catch(() => {});
    return result;
  }
}
