/** Finds the position of a part of a document in its text. */
import { type Document, isAlias, isMap, isScalar, isSeq, type Node, type Pair, type YAMLMap } from "yaml";

export interface Position {
  /** Counted from 1. */
  readonly line: number;
  readonly column: number;
}

/**
 * The position of the node at `path`, or of the key if the last part of the path is a key; where an alias or the key "<<" leads to it, there. For a missing
 * field, the position of its nearest parent.
 */
export function positionOf(document: Document, path: readonly (string | number)[], at: (offset: number) => Position): Position {
  let node: unknown = document.contents;
  let offset = offsetOf(node) ?? 0;
  for (const part of path) {
    node = resolved(node, document);
    if (isMap(node)) {
      const pair = pairOf(node, String(part), document, 0);
      if (pair === undefined) break;
      offset = offsetOf(pair.key) ?? offset;
      node = pair.value;
    } else if (isSeq(node)) {
      node = node.items[Number(part)];
      if (node === undefined) break;
      offset = offsetOf(node) ?? offset;
    } else break;
  }
  return at(offset);
}

/** Maps that are merged, one in the other. */
const MOST_MERGES = 20;

function pairOf(map: YAMLMap, name: string, document: Document, level: number): Pair | undefined {
  const keyOf = ({ key }: Pair) => (isScalar(key) ? String(key.value) : key);
  const own = map.items.find((pair) => keyOf(pair) === name);
  if (own !== undefined || level >= MOST_MERGES) return own;
  // Where maps are merged, the library has a symbol for the value of the key.
  for (const { value } of map.items.filter(({ key }) => isScalar(key) && key.source === "<<")) {
    const merged = resolved(value, document);
    for (const one of isSeq(merged) ? merged.items : [merged]) {
      const inner = resolved(one, document);
      const found = isMap(inner) ? pairOf(inner, name, document, level + 1) : undefined;
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

function resolved(node: unknown, document: Document): unknown {
  return isAlias(node) ? node.resolve(document) : node;
}

export function offsetOf(node: unknown): number | undefined {
  return (node as Node | null | undefined)?.range?.[0];
}
