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
  const { named, merges } = keysOf(map);
  const own = named.get(name);
  if (own !== undefined || level >= MOST_MERGES) return own;
  for (const { value } of merges) {
    const merged = resolved(value, document);
    for (const one of isSeq(merged) ? merged.items : [merged]) {
      const inner = resolved(one, document);
      const found = isMap(inner) ? pairOf(inner, name, document, level + 1) : undefined;
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

interface Keys {
  readonly named: ReadonlyMap<string, Pair>;
  /** Where maps are merged, the library has a symbol for the value of the key. */
  readonly merges: readonly Pair[];
}

/** A file may have a finding for each of its keys: looking through all keys for each of them would take the square of their number. */
const KEYS = new WeakMap<YAMLMap, Keys>();

function keysOf(map: YAMLMap): Keys {
  let keys = KEYS.get(map);
  if (keys === undefined) {
    const named = new Map<string, Pair>();
    for (const pair of map.items) {
      const name = isScalar(pair.key) ? String(pair.key.value) : undefined;
      // Where a key occurs twice the value has the last one.
      if (name !== undefined) named.set(name, pair);
    }
    keys = { named, merges: map.items.filter(({ key }) => isScalar(key) && key.source === "<<") };
    KEYS.set(map, keys);
  }
  return keys;
}

function resolved(node: unknown, document: Document): unknown {
  return isAlias(node) ? node.resolve(document) : node;
}

export function offsetOf(node: unknown): number | undefined {
  return (node as Node | null | undefined)?.range?.[0];
}
