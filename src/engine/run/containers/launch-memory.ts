/**
 * Mounts a tmpfs for the files of containers that have secrets in their environment, so that
 * the secrets are never on disk. It is mounted only while such containers exist.
 */
import { closeSync, constants, existsSync, fchmodSync, fstatSync, lstatSync, openSync, readdirSync, rmdirSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { makeOwnDirectory } from "../../own/index.ts";
import { mountMemory, removeScratch, unmountMemory } from "../../volumes/index.ts";

const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = constants;

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

  /**
   * Closes the tmpfs to others, if it is there, and removes what is not this user's: an earlier version left it open to everybody, who could take the name of the
   * next container. Returns the names that were removed. @throws Error: something else is there; the errors of the system calls
   */
  async secure(): Promise<readonly string[]> {
    return this.#exclusively(() => this.#closeToOthers());
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
    makeOwnDirectory(this.directory, { mode: 0o700 });
    await mountMemory(this.directory, MOST);
    await this.#closeToOthers();
  }

  async #closeToOthers(): Promise<readonly string[]> {
    if (lstatSync(this.directory, { throwIfNoEntry: false }) === undefined) return [];
    const own = process.geteuid?.();
    const fd = openSync(this.directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    try {
      const { uid, mode } = fstatSync(fd);
      if (uid !== own) throw new Error(`${this.directory} belongs to uid ${uid}, and this is uid ${own}`);
      if ((mode & 0o777) !== 0o700) fchmodSync(fd, 0o700);
    } finally {
      closeSync(fd);
    }
    // Nobody else can make an entry any more.
    const others = readdirSync(this.directory).filter((name) => lstatSync(join(this.directory, name)).uid !== own);
    for (const name of others) {
      const path = join(this.directory, name);
      if (lstatSync(path).isDirectory()) await removeScratch(path);
      else unlinkSync(path);
    }
    return others;
  }

  #exclusively<T>(action: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(action);
    this.#turn = result.catch(() => {});
    return result;
  }
}
