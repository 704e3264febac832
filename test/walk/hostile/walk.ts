/** One walk from its beginning to its end, in a world of its own. */
import { batches, type Step } from "./steps.ts";
import { World } from "./world.ts";

export interface Walked {
  readonly done: readonly Step[];
  /** How often each verb did what it was told. */
  readonly summary: string;
  readonly wrong?: string;
}

/** Where a world lives: a directory that exists, and a name that no other one there has. */
export interface Place {
  readonly directory: string;
  readonly rootfs: string;
  readonly name: string;
}

/** `more` is asked before each batch, with the number of steps that are done. */
export async function walkHost(
  { directory, rootfs, name }: Place,
  steps: Iterable<Step>,
  more = (_done: number): boolean => true,
): Promise<Walked> {
  const world = new World(directory, rootfs, name);
  const done: Step[] = [];
  const result = (wrong: string | undefined): Walked => ({ done, summary: world.summary(), ...(wrong === undefined ? {} : { wrong }) });
  try {
    await world.begin();
    for (const batch of batches(steps)) {
      if (!more(done.length)) break;
      done.push(...batch);
      const wrong = await world.perform(batch);
      if (wrong !== undefined) return result(wrong);
    }
    return result(await world.finish());
  } finally {
    await world.close();
  }
}
