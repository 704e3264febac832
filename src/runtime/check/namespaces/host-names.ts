import { closeNames } from "../../spec/index.ts";
import type { Tree } from "../host/view.ts";

/** Directories with more names than this are not searched for a close one. */
const MOST = 5000;

/** What is nearest to a path that is not there: a close name beside it, or else the last directory that exists. */
export function nearest(tree: Tree, path: string): string | undefined {
  const parts = path.split("/").filter((part) => part !== "");
  let there = "";
  for (const [index, part] of parts.entries()) {
    const next = `${there}/${part}`;
    const facts = tree.look(next);
    if (facts !== undefined) {
      // Where a link leads is not looked into.
      if (facts.kind === "symlink") return undefined;
      there = next;
      continue;
    }
    const [close] = closeTo(part, tree.names(there || "/"));
    if (close === undefined) return there || "/";
    const whole = [there, close, ...parts.slice(index + 1)].join("/");
    return tree.look(whole) === undefined ? `${there}/${close}` : whole;
  }
  return undefined;
}

export function closeTo(wanted: string, names: readonly string[]): readonly string[] {
  return names.length > MOST ? [] : closeNames(wanted, names);
}
