/** Cycles of a directed graph. */

/**
 * One cycle for each place where a walk in depth comes back to its own way: members in order, each once, beginning with the one that is first in the
 * graph. Empty exactly when the graph has none.
 */
export function cyclesOf(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const done = new Set<string>();
  const cycles: string[][] = [];
  for (const start of graph.keys()) {
    // Its own stack: a chain of containers may be longer than the one of the engine.
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
