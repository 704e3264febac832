/**
 * Mounts a tmpfs for the files of containers that have secrets in their environment, so that
 * the secrets are never on disk. It is mounted only while such containers exist.
 */
import { existsSync, mkdirSync, readdirSync, rmdirSync } from "node:fs";
import { mountMemory, unmountMemory } from "../../volumes/index.ts";

/** Size limit in bytes, for the configurations, records and pipes of all these containers. */
const MOST = 256 << 20;

export class LaunchMemory {
  readonly directory: string;
  /** Number of launches in progress. */
  #users = 0;
  /** Serialises mounting and unmounting. */
  #turn: Promise<unknown> = Promise.resolve();

  /** @param directory absolute; created when it is needed */
  constructor(directory: string) {
    this.directory = directory;
  }

  /** Runs `launch` with the tmpfs mounted. @throws Error: it cannot be mounted; what `launch` throws */
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

  /** Unmounts the tmpfs if no container uses it any more. */
  async leave(): Promise<void> {
    await this.#exclusively(async () => {
      if (this.#users > 0 || !existsSync(this.directory)) return;
      // Entries whose names begin with "@" belong to no container, or to one that is half made.
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
