/** Names of unpacked layers. The same layer gives different files on different lower layers, so its name is a hash over all of them (image-spec, config.md, ChainID). Pure. */
import { createHash } from "node:crypto";

/** Digits of a name. They are few, because the names of all layers of an image must fit into the options of one mount. */
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
