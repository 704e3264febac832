/** How far a pull is. */
import type { Layer } from "./fetch.ts";
import { DIGEST } from "./manifest.ts";
import type { Places } from "./places.ts";
import type { Progress } from "./port.ts";
import { sizeOf } from "./whole.ts";

/** How much of these layers is there, with `staged` bytes of those that are still coming. @param layers undefined: nobody has said which they are */
export function progressOf(places: Places, layers: readonly Layer[] | undefined, staged: number): Progress {
  if (layers === undefined) return { bytes: staged, total: null, layers: null };
  const there = layers.filter(({ digest, size }) => DIGEST.test(digest) && sizeOf(places, digest) === size);
  const sum = (some: readonly Layer[]) => some.reduce((all, { size }) => all + size, 0);
  const total = sum(layers);
  return { bytes: Math.min(total, sum(there) + staged), total, layers: { done: there.length, total: layers.length } };
}
