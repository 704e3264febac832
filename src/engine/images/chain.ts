/** Names of unpacked layers. A layer is what it changes in those below it: so its name is made of theirs, too (image-spec, config.md, ChainID). Pure. */
import { createHash } from "node:crypto";

/** Of 256 bits; the names of all layers of an image stand in the options of one mount. */
const DIGITS = 28;

/** One for each layer, the lowest first. */
export function layerNames(diffIds: readonly string[]): string[] {
  const chain: string[] = [];
  for (const diffId of diffIds) {
    const below = chain.at(-1);
    chain.push(below === undefined ? diffId : `sha256:${createHash("sha256").update(`${below} ${diffId}`).digest("hex")}`);
  }
  return chain.map((id) => id.slice("sha256:".length, "sha256:".length + DIGITS));
}
