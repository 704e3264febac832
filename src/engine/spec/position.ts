/** Finds the position of a part of a document in its text. */
import { isMap, isPair, isScalar, isSeq, type Node } from "yaml";

export interface Position {
  /** Counted from 1. */
  readonly line: number;
  readonly column: number;
}

/** The position of the node at `path`, or of the key if the last part of the path is a key. For a missing field, the position of its nearest parent. */
export function positionOf(root: unknown, path: readonly (string | number)[], at: (offset: number) => Position): Position {
  let node = root;
  let offset = offsetOf(root) ?? 0;
  for (const part of path) {
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => (isScalar(key) ? String(key.value) : key) === String(part));
      if (!isPair(pair)) break;
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

export function offsetOf(node: unknown): number | undefined {
  return (node as Node | null | undefined)?.range?.[0];
}
