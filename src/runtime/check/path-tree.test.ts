import fc from "fast-check";
import { expect, it } from "vitest";
import { runsOf } from "../../../test/support/runs.ts";
import { PathTree } from "./path-tree.ts";

const isWithin = (path: string, top: string): boolean => top === "/" || path === top || path.startsWith(`${top}/`);

it("has what a list of all paths has", () => {
  const paths = fc.array(fc.constantFrom("a", "b", "ab", "abc", "c"), { maxLength: 5 }).map((names) => `/${names.join("/")}`);
  fc.assert(
    fc.property(fc.array(paths, { maxLength: 20 }), fc.array(paths, { maxLength: 5 }), (added, asked) => {
      const tree = new PathTree<number>();
      const list = new Map<string, number>();
      added.forEach((path, number) => {
        const within = [...list].filter(([other]) => isWithin(other, path));
        expect([...tree.replace(path, number)].sort((a, b) => a - b)).toEqual(within.map(([, value]) => value).sort((a, b) => a - b));
        for (const [other] of within) list.delete(other);
        list.set(path, number);
      });
      for (const path of [...added, ...asked, "/"]) {
        const above: number[] = [];
        tree.along(path, (value) => above.push(value));
        const expected = [...list].filter(([other]) => isWithin(path, other)).sort(([a], [b]) => a.length - b.length);
        expect(above).toEqual(expected.map(([, value]) => value));
        expect(tree.hasBelow(path)).toBe([...list.keys()].some((other) => other !== path && isWithin(other, path)));
      }
    }),
    { numRuns: runsOf(3000) },
  );
});

it("takes little for long paths, which part at their beginning or at their end", () => {
  const names = "/a".repeat(2000);
  const tree = new PathTree<number>();
  for (let index = 0; index < 3000; index++) tree.replace(index % 2 === 0 ? `/${index}${names}` : `${names}/${index}`, index);
  expect(tree.hasBelow(names)).toBe(true);
  expect(tree.replace("/a", 0)).toHaveLength(1500);
});
