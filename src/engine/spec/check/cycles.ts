/** Finds cycles in a directed graph. */

/**
 * Returns one cycle for each back edge of a depth-first search. Each cycle lists its members in order, starting with the one that is first in the graph. Empty if
 * and only if the graph has no cycle.
 */
export function cyclesOf(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const done = new Set<string>();
  const cycles: string[][] = [];
  for (const start of graph.keys()) {
    // An explicit stack, because a chain of containers may be longer than the call stack of the JavaScript engine.
    const way: { node: string; next: number }[] = done.has(start) ? [] : [{ node: start, next: 0 }];
    const onWay = new Set(way.map(({ node }) => node));
    while (way.length > 0) {
      const last = way.at(-1)!;
      const target = graph.get(last.node)?.[last.next++];
      if (target === undefined) {
        done.add(last.node);
        onWay.delete(last.node);
        way.pop();
      } else if (onWay.has(target)) {
        cycles.push(way.slice(way.findIndex(({ node }) => node === target)).map(({ node }) => node));
      } else if (!done.has(target)) {
        way.push({ node: target, next: 0 });
        onWay.add(target);
      }
    }
  }
  return cycles;
}
