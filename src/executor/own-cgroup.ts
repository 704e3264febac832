/** The cgroup of an executor's container, which its caller has recorded: the last thing that leads to its processes when everything on disk is lost. */
import { ExecutorError } from "./errors.ts";
import { cgroupPathOf } from "./launch/cgroup-place.ts";
import { endCgroups, occupantsOf, type Place, placesOf, signalFirst } from "./process/end-cgroup.ts";
import type { KnownCgroup } from "./types.ts";

export class OwnCgroup {
  readonly #id: string;
  readonly #path: string;
  readonly #isUnique: boolean;

  constructor(id: string, { parent, isUnique }: KnownCgroup) {
    this.#id = id;
    this.#path = cgroupPathOf(id, parent);
    this.#isUnique = isUnique;
  }

  get #places(): Place[] {
    return placesOf(this.#path);
  }

  exists(): boolean {
    return this.#places.length > 0;
  }

  isOccupied(): boolean {
    return occupantsOf(this.#places).length > 0;
  }

  /** For the first process of the container. Nobody gets it if the cgroup may be another one's. */
  signal(signal: number): void {
    if (this.#isUnique) signalFirst(this.#places, signal);
  }

  /** Returns when the cgroup is gone. @throws ExecutorError stuck */
  async end(): Promise<void> {
    const places = this.#places;
    const pids = this.#isUnique ? [] : occupantsOf(places);
    if (pids.length > 0)
      throw new ExecutorError(
        "stuck",
        `${this.#id}: processes are left in ${this.#path}, and nothing proves that they are of this container: ${pids.join(", ")}`,
        { pids },
      );
    await endCgroups(places);
  }
}
